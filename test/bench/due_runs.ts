import { setTimeout as wait } from 'node:timers/promises';
import { advanceHint, createActive } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 3;
const RUNS = 100_000;
/** Small enough to be over at once, and to be compared with. */
const FEW_RUNS = 5_000;
const SAMPLES = 20;
const POLL_MS = 5;

const openWorld = async () => {
  const installation = await openInstallation();
  const [busy, quiet] = [
    await createProject(installation.deps, 'busy'),
    await createProject(installation.deps, 'quiet'),
  ];
  const automationId = await keepAutomation(installation, busy.project_id);
  await keepAutomation(installation, quiet.project_id);
  const service = await installation.start('api');
  await installation.start('worker');
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(installation.url, async (client) => (await client.query<Row>(text, values)).rows);
  return { installation, busy, quiet, automationId, port: service.port, ask };
};
type World = Awaited<ReturnType<typeof openWorld>>;

/** Each person who signs up waits for an hour and is marked then. */
export const keepAutomation = ({ deps }: Installation, projectId: string): Promise<string> =>
  inProject(deps, projectId, (scope) =>
    createActive(scope, 'bench', {
      trigger: { kind: 'event', event: 'user_signed_up', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'mark',
      steps: {
        mark: { kind: 'update_profile', traits: { is_marked: true }, next: 'hour' },
        hour: { kind: 'delay', duration: 'PT1H', next: 'unmark' },
        unmark: { kind: 'update_profile', traits: { is_marked: false }, next: null },
      },
    }),
  );

/** Runs of people of their own whose hour is over, all at this moment. */
export const makeDue = (
  {
    ask,
    busy,
    automationId,
  }: Pick<World, 'ask' | 'automationId'> & { busy: { project_id: string } },
  count: number,
) =>
  ask(
    `with person as (
      insert into profiles.profiles (project_id, profile_id, traits, created_at, updated_at)
      select $1, gen_random_uuid(), '{"is_marked": true}', now(), now() from generate_series(1, $3)
      returning profile_id
    ), identity as (
      insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
        first_seen_at, last_seen_at)
      select $1, gen_random_uuid(), 'external', profile_id::text, profile_id, profile_id, now(), now() from person
      returning identity_id
    )
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, entry_key, status, step_id, wake_at, waits_until, started_at)
    select $1, gen_random_uuid(), $2, 1, identity_id, gen_random_uuid(), now() - interval '1 hour',
      gen_random_uuid()::text, 'active', 'hour', now(), now(), now() - interval '1 hour'
    from identity`,
    [busy.project_id, automationId, count],
  );

const isDue = async ({ ask, busy }: World): Promise<boolean> => {
  const due = await ask(
    `select from automations.runs where project_id = $1 and status = 'active' limit 1`,
    [busy.project_id],
  );
  return due.length > 0;
};

let people = 0;
/** Milliseconds from posting an event of the quiet project to the first step of its run. */
const sampleQuiet = async ({ installation, port, quiet }: World): Promise<number> => {
  people += 1;
  const postedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${quiet.server_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'user_signed_up', external_id: `quiet-${people}` }),
  });
  if (response.status !== 202) throw new Error(`the event was answered ${response.status}`);
  return withClient(installation.url, async (client) => {
    for (;;) {
      const { rowCount } = await client.query(
        `select from automations.runs as run join identity.identities as known using (project_id, identity_id)
        where run.project_id = $1 and known.value = $2 and run.step_id = 'hour'`,
        [quiet.project_id, `quiet-${people}`],
      );
      if (rowCount !== 0) return performance.now() - postedAt;
      await wait(POLL_MS);
    }
  });
};

const sampleQuiets = async (world: World, isOver: () => Promise<boolean>): Promise<number> => {
  const delays: number[] = [];
  while (!(await isOver()) && delays.length < SAMPLES * ROUNDS)
    delays.push(await sampleQuiet(world));
  return median(delays);
};

/** Runs a second, from when they are due until the last is over; with what another project notices of it. */
const drain = async (world: World, count: number) => {
  await makeDue(world, count);
  await world.ask('vacuum analyze automations.runs');
  await checkpoint(world.installation.url);
  const startedAt = performance.now();
  await hint(world.installation.deps, advanceHint(world.busy.project_id));
  const delay = await sampleQuiets(world, async () => !(await isDue(world)));
  while (await isDue(world)) await wait(POLL_MS);
  return { rate: (count * 1_000) / (performance.now() - startedAt), delay };
};

/** A hundred thousand runs that are due at the same moment, and another project beside them. */
export const dueRuns = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  await drain(world, FEW_RUNS);
  const [many, few]: [number[], number[]] = [[], []];
  const [beside, alone]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    let left = SAMPLES;
    alone.push(await sampleQuiets(world, () => Promise.resolve((left -= 1) < 0)));
    few.push((await drain(world, FEW_RUNS)).rate);
    const drained = await drain(world, RUNS);
    many.push(drained.rate);
    beside.push(drained.delay);
  }
  await world.installation.close();
  return [
    {
      name: `runs advanced to their end, ${RUNS} due at the same moment`,
      unit: 'runs/s',
      measured: many,
      comparedWith: `${FEW_RUNS} due at the same moment`,
      comparison: few,
      good: { atLeast: 0.8 },
    },
    {
      name: `event accepted → its run begun, beside ${RUNS} due runs of another project, median`,
      unit: 'ms',
      measured: beside,
      comparedWith: 'the same project alone',
      comparison: alone,
      good: { atMost: 2 },
    },
  ];
};
