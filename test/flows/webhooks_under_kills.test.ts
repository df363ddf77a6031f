// Two workers that are killed again and again, an endpoint that fails now and then: who comes into a segment is let in
// once, and every step of every run has its effect once, none is left out.
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import * as automations from '../../src/automations/automations.ts';
import { createEndpoint, openSecrets } from '../../src/automations/endpoints.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { identify } from '../../src/profiles/identify.ts';
import { vault } from '../automations/with_endpoint.ts';
import { create, ordered } from '../segments/recount.ts';
import { httpsSink } from '../support/https_sink.ts';
import { killAgainAndAgain } from '../support/kills.ts';
import { addressOf, testWorld } from '../support/world.ts';
import { until } from '../support/until.ts';

const PEOPLE = 24;
const KILLS = 4;
const TEST_TIMEOUT_MS = 240_000;

const world = testWorld();
/** Within the network that the operator of this installation listed, so without TLS. */
const sink = httpsSink({ secure: false, usually: () => ({ status: 204 }) });

const mailOf = async () => {
  const { rows } = await world.owner.query<{ provider_id: string; template_id: string }>(
    'select provider_id, template_id from providers.providers cross join rendering.templates limit 1',
  );
  const [{ provider_id, template_id } = { provider_id: '', template_id: '' }] = rows;
  return { kind: 'send_email' as const, provider_id, template_id, template_version: 1 };
};

const activate = async (segment_id: string, endpoint_id: string): Promise<string> => {
  const mail = await mailOf();
  return inProject(world.deps, world.project.project_id, (scope) =>
    automations.createActive(scope, 'Under kills', {
      trigger: { kind: 'segment_entered', segment_id },
      settings: { re_entry: 'every_time' },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits: { first_name: 'Somebody', stage: 'in' },
          next: 'tell',
        },
        tell: { kind: 'webhook', endpoint_id, next: 'pause', on_failure: null },
        pause: { kind: 'delay', duration: 'PT1S', next: 'mail' },
        mail: { ...mail, next: 'tell_again' },
        tell_again: { kind: 'webhook', endpoint_id, next: 'note', on_failure: null },
        note: { kind: 'update_profile', traits: { stage: 'done' }, next: null },
      },
    }),
  );
};

/** What a run of everybody decides, in order, however often an endpoint had to be told again. */
const DECISIONS = [
  ['remember', 'profile_updated'],
  ['tell', 'webhook_queued'],
  ['tell', 'webhook_delivered'],
  ['pause', 'delayed'],
  ['pause', 'delay_over'],
  ['mail', 'send_queued'],
  ['tell_again', 'webhook_queued'],
  ['tell_again', 'webhook_delivered'],
  ['note', 'profile_updated'],
];

const people = Array.from({ length: PEOPLE }, (_, at) => `person-${at}`);
const order = (those: readonly string[]) =>
  accept(
    world.deps,
    { projectId: world.project.project_id, kind: 'server' },
    { events: those.map((external_id) => ({ event: 'order_completed', external_id })) },
  );

const countOf = async (table: string, where: string): Promise<number> => {
  const { rows } = await world.owner.query<{ count: number }>(
    `select count(*)::int as count from ${table} where ${where}`,
  );
  return rows[0]?.count ?? 0;
};

test(
  'workers under kills let everybody in once, and tell every endpoint what they must, once',
  {
    timeout: TEST_TIMEOUT_MS,
  },
  async () => {
    const { project_id: projectId } = world.project;
    const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
      inProject(world.deps, projectId, work);
    for (const external_id of people) {
      const traits = { email: addressOf(external_id) };
      await identify(world.deps, { projectId, kind: 'server' }, { external_id, traits });
    }
    const { segment_id } = await create(world, projectId, ordered(30));
    const endpointId = newId();
    await within((scope) =>
      createEndpoint(scope, vault, { endpointId, name: 'Sink', url: `${sink.url}/hooks` }),
    );
    const killing = killAgainAndAgain(world, { kills: KILLS, afterMs: [200, 1_500] });
    await until(
      'the segment is filled',
      async () => (await countOf('segments.segments', `status = 'ready'`)) > 0,
    );
    const of = `automation_id = '${await activate(segment_id, endpointId)}'`;
    for (const at of [3, 9, 20]) void wait(at * 100).then(() => sink.play('/hooks', 'drop', 1));
    sink.play('/hooks', { status: 503 }, 2);
    for (let at = 0; at < PEOPLE; at += 8) {
      await order(people.slice(at, at + 8));
      // Twice: who is in the segment does not come in again.
      await order(people.slice(at, at + 4));
      await wait(randomInt(200, 900));
    }
    await killing;
    await until(
      'every run has ended',
      async () => (await countOf('automations.runs', `${of} and status = 'ended'`)) === PEOPLE,
      180_000,
    );

    expect(await countOf('automations.runs', of)).toBe(PEOPLE);
    expect(await countOf('automations.runs', `${of} and outcome <> 'completed'`)).toBe(0);
    const { rows: logs } = await world.owner.query<{ decided: string[][] }>(
      `select array_agg(array[step_id, decision] order by entry) as decided
    from automations.run_log where decision <> 'webhook_postponed'
    and run_id in (select run_id from automations.runs where ${of}) group by run_id`,
    );
    expect(logs).toHaveLength(PEOPLE);
    for (const { decided } of logs) expect(decided).toEqual(DECISIONS);

    // Whoever is told knows each effect by its id, however often it had to be said; each was proved.
    const [secret = ''] = await within((scope) => openSecrets(scope, vault, endpointId));
    const told = sink.requests.map(({ body, headers }) => {
      const message = new Webhook(secret).verify(
        body.toString(),
        headers as Record<string, string>,
      ) as { id: string; data: { run: { id: string }; step: { id: string } } };
      return { id: message.id, effect: `${message.data.run.id}/${message.data.step.id}` };
    });
    const idsOf = Map.groupBy(told, ({ effect }) => effect);
    expect(idsOf.size).toBe(2 * PEOPLE);
    for (const those of idsOf.values()) expect(new Set(those.map(({ id }) => id)).size).toBe(1);
    expect(await countOf('automations.calls', `status = 'delivered'`)).toBe(2 * PEOPLE);
    expect(await countOf('delivery.sends', of)).toBe(PEOPLE);
    expect(await countOf('profiles.profiles', `traits ->> 'stage' = 'done'`)).toBe(PEOPLE);
  },
);
