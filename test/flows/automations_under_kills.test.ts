// Two workers that are killed again and again: every step of every run is taken once, and none is left out.
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { killAgainAndAgain } from '../support/kills.ts';
import { addressOf, testWorld } from '../support/world.ts';
import { until } from '../support/until.ts';

const PEOPLE = 30;
const KILLS = 5;
const TEST_TIMEOUT_MS = 120_000;

const world = testWorld();

const mailOf = async () => {
  const { rows } = await world.owner.query<{ provider_id: string; template_id: string }>(
    'select provider_id, template_id from providers.providers cross join rendering.templates limit 1',
  );
  const [{ provider_id, template_id } = { provider_id: '', template_id: '' }] = rows;
  return (next: string | null) => ({
    kind: 'send_email' as const,
    provider_id,
    template_id,
    template_version: 1,
    next,
  });
};

/** What a run of everybody decides, in order: whoever does what is waited for, early or late, goes the same way. */
const DECISIONS = [
  ['remember', 'profile_updated'],
  ['first', 'send_queued'],
  ['wait', 'waits_for_event'],
  ['wait', 'event_came'],
  ['pause', 'delayed'],
  ['pause', 'delay_over'],
  ['second', 'send_queued'],
  ['tell', 'profile_updated'],
];

const activate = async (): Promise<string> => {
  const mail = await mailOf();
  return inProject(world.deps, world.project.project_id, (scope) =>
    automations.createActive(scope, 'Under kills', {
      trigger: { kind: 'event', event: 'trial_started' },
      settings: { re_entry: 'once' },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits_from_event: { email: 'email', first_name: 'first_name' },
          next: 'first',
        },
        first: mail('wait'),
        wait: {
          kind: 'wait_for_event',
          event: 'project_created',
          timeout: 'P1D',
          next: 'pause',
          on_timeout: null,
        },
        pause: { kind: 'delay', duration: 'PT1S', next: 'second' },
        second: mail('tell'),
        tell: { kind: 'update_profile', traits: { stage: 'done' }, next: null },
      },
    }),
  );
};

const people = Array.from({ length: PEOPLE }, (_, at) => `person-${at}`);
const tell = (event: string, those: readonly string[]) =>
  accept(
    world.deps,
    { projectId: world.project.project_id, kind: 'server' },
    {
      events: those.map((external_id) => ({
        event,
        external_id,
        properties: { email: addressOf(external_id), first_name: external_id },
      })),
    },
  );

const countOf = async (table: string, where: string): Promise<number> => {
  const { rows } = await world.owner.query<{ count: number }>(
    `select count(*)::int as count from ${table} where ${where}`,
  );
  return rows[0]?.count ?? 0;
};

test(
  'two workers under kills take every step of every run once, and skip none',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const automationId = await activate();
    const of = `automation_id = '${automationId}'`;
    const killing = killAgainAndAgain(world, { kills: KILLS, afterMs: [100, 1_200] });
    for (let at = 0; at < PEOPLE; at += 10) {
      await tell('trial_started', people.slice(at, at + 10));
      // The trigger twice: nobody enters a second time.
      await tell('trial_started', people.slice(at, at + 5));
      await wait(randomInt(200, 900));
      await tell('project_created', people.slice(at, at + 10));
    }
    await killing;
    await until(
      'every run has ended',
      async () => (await countOf('automations.runs', `${of} and status = 'ended'`)) === PEOPLE,
      60_000,
    );

    expect(await countOf('automations.runs', of)).toBe(PEOPLE);
    const { rows: logs } = await world.owner.query<{ decided: string[][] }>(
      `select array_agg(array[step_id, decision] order by entry) as decided
      from automations.run_log where run_id in (select run_id from automations.runs where ${of})
      group by run_id`,
    );
    expect(logs).toHaveLength(PEOPLE);
    const missed = (decided: string[][]) => JSON.stringify(decided) !== JSON.stringify(DECISIONS);
    // Who had done it when their run came to the wait did not have to wait.
    const early = DECISIONS.filter(([, decision]) => decision !== 'waits_for_event');
    const isEarly = (decided: string[][]) => JSON.stringify(decided) === JSON.stringify(early);
    expect(logs.filter(({ decided }) => missed(decided) && !isEarly(decided))).toEqual([]);

    const { rows: sends } = await world.owner.query<{ sends: number; steps: number }>(
      `select count(*)::int as sends, count(distinct step_id)::int as steps
      from delivery.sends where ${of} group by run_id having count(*) <> 2 or count(distinct step_id) <> 2`,
    );
    expect(sends).toEqual([]);
    expect(await countOf('delivery.sends', of)).toBe(2 * PEOPLE);
    expect(await countOf('automations.waits', 'true')).toBe(0);
    expect(await countOf('profiles.profiles', `traits ->> 'stage' = 'done'`)).toBe(PEOPLE);
  },
);
