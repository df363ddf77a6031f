// Each invariant is held to what it is for: a world in which nothing went wrong, and one violation planted in it.
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { alias } from '../../src/profiles/identify.ts';
import { createProject } from '../../src/projects/projects.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import { noSamples } from './evidence.ts';
import type { Evidence, Stand } from './evidence.ts';
import { invariants, QUEUES } from './invariants.ts';
import { Journal } from './journal.ts';
import type { AskedEvent, Person } from './journal.ts';
import type { Seen } from './relays.ts';
import { findUnfinished } from './unfinished.ts';
import { look } from './watch.ts';

const SETUP_TIMEOUT_MS = 120_000;

const world = testWorld();
const ids = { project: '', other: '' };
const ann = { external_id: 'ann-of-the-test', anonymous_id: 'device-of-the-test' };
const email = 'ann-of-the-test@people.test';

const asked = (event: string, who: Partial<typeof ann>, op: string): AskedEvent => ({
  projectId: ids.project,
  op,
  event,
  external_id: who.external_id ?? null,
  anonymous_id: who.anonymous_id ?? null,
  properties: { op, email },
  occurred_at: new Date().toISOString(),
  fate: 'stored',
  event_id: null,
});

const person: Omit<Person, 'projectId'> = {
  ...ann,
  email,
  role: 'linked',
  isLinked: true,
  links: { linked: 1, undone: 0 },
  erase: 'none',
};

/** What was asked for, with answers; the events are made in the world, the refused one is not. */
const told: AskedEvent[] = [];

beforeAll(async () => {
  ids.project = world.project.project_id;
  ids.other = (await createProject(world.deps, 'other')).project_id;
  const worker = await world.start('worker');
  told.push(asked('user_signed_up', { external_id: ann.external_id }, 'one'));
  told.push(asked('page_viewed', { anonymous_id: ann.anonymous_id }, 'two'));
  const caller = { projectId: ids.project, kind: 'server' } as const;
  const events = told.map(({ op, event, external_id, anonymous_id, properties, occurred_at }) => ({
    event,
    ...(external_id === null ? {} : { external_id }),
    ...(anonymous_id === null ? {} : { anonymous_id }),
    properties,
    occurred_at,
    message_id: op,
  }));
  const { event_ids } = await accept(world.deps, caller, { events });
  for (const [at, one] of told.entries()) one.event_id = event_ids[at] ?? null;
  await world.sink.waitFor(1);
  await alias(world.deps, caller, ann, automations.wakeLinked);
  await until('idle', async () => (await findUnfinished(world.owner)).length === 0);
  await worker.stop();
  told.push({ ...asked('page_viewed', { external_id: ann.external_id }, 'bad'), fate: 'refused' });
}, SETUP_TIMEOUT_MS);

const gather = async (client: pg.Client): Promise<Evidence> => {
  const journal = new Journal();
  journal.events.push(...told.map((one) => ({ ...one })));
  journal.people.push({ ...person, links: { ...person.links }, projectId: ids.project });
  const { rows } = await client.query<{ now: Date }>('select now()');
  journal.startedAt = rows[0]?.now ?? new Date(0);
  const samples = noSamples();
  await look(client, samples);
  for (const queue of QUEUES) samples.queues.set(`api 1 ${queue}`, { most: 1, max: 1 });
  const seen = world.sink.mails.map(({ send_id, message_id, to, firstByteAt }) => ({
    provider: 'calm',
    taken: 'yes' as const,
    send_id,
    message_id,
    to,
    firstByteAt,
  }));
  const secrets = { 'the master key': TEST_MASTER_KEY, 'the password': 'sink password' };
  return { client, journal, samples, seen, timelines: [], secrets, leaks: [] };
};

/** A row as it is, but for some members, though no constraint allowed it. */
const copy = (client: pg.Client, table: string, changed: object, where = 'true') =>
  client.query(
    `insert into ${table} select (jsonb_populate_record(known, $1::jsonb)).*
    from ${table} as known where ${where} limit 1`,
    [JSON.stringify(changed)],
  );

const KEY_HASH_BYTES = 32;

const addEntry = (client: pg.Client, action: string, requestId: string | null = null) =>
  client.query(
    `insert into admin.audit (project_id, audit_id, at, actor_kind, action, targets, request_id)
    values ($1, gen_random_uuid(), now(), 'key', $2, '{}', $3)`,
    [ids.project, action, requestId],
  );

type Plant = (evidence: Evidence) => unknown;

const strange: Seen = {
  provider: 'calm',
  taken: 'yes',
  send_id: null,
  message_id: null,
  to: [],
  firstByteAt: null,
};

/** A second hand-off of each send, after the first of which this is recorded. */
const handOffAgain = async (client: pg.Client, first: string, begins: string): Promise<void> => {
  await client.query('update delivery.attempts set outcome = $1', [first]);
  await copy(client, 'delivery.attempts', {
    attempt: 2,
    outcome: 'accepted',
    message_id: 'second',
  });
  await client.query(`update delivery.attempts set started_at = ${begins} where attempt = 2`);
  await client.query('update delivery.sends set attempt_count = 2');
};

/** How each comes to be broken. */
const plants: Record<string, Plant> = {
  I1: ({ client }) => client.query(`delete from ingest.events where properties ->> 'op' = 'one'`),
  I2: ({ client }) =>
    copy(
      client,
      'ingest.events',
      { event_id: crypto.randomUUID(), properties: { op: 'bad' } },
      `properties ->> 'op' = 'two'`,
    ),
  I3: ({ client }) =>
    client.query(
      `update ingest.events set received_at = received_at + interval '1 second' where name = 'page_viewed'`,
    ),
  I4: async ({ client }) => {
    await client.query('alter table delivery.sends drop constraint sends_one_intent_per_step');
    await copy(client, 'delivery.sends', { send_id: crypto.randomUUID() });
  },
  I5: ({ client }) => copy(client, 'delivery.attempts', { attempt: 2, message_id: 'second' }),
  I6: ({ seen }) => seen.push({ ...strange, message_id: 'no' }),
  I7: ({ samples }) => {
    for (const stands of samples.sends.values())
      stands.push({ status: 'queued', attempt_count: 1, facts: [] });
  },
  I8: ({ journal }) =>
    journal.said.push({ projectId: ids.project, email, said: 'suppress', askedAt: 0, ackedAt: 1 }),
  I9: ({ seen }) => {
    for (const one of seen) one.firstByteAt = (one.firstByteAt ?? 0) + 10_000;
  },
  I10: ({ client }) =>
    client.query(`insert into queue.workers values ('dead', now(), now() - interval '1 minute')`),
  I11: ({ client }) => client.query('delete from automations.runs'),
  I12: ({ client }) =>
    client.query(
      `update suppression.addresses set reason = 'manual', source = 'nobody', suppressed_at = now()`,
    ),
  I13: async ({ client }) => {
    const provider_id = crypto.randomUUID();
    await copy(client, 'providers.providers', { project_id: ids.other, provider_id });
    await client.query('update delivery.sends set provider_id = $1', [provider_id]);
  },
  I14: ({ client }) =>
    client.query(
      `update identity.identities set profile_id = own_profile_id where kind = 'anonymous'`,
    ),
  I15: ({ journal }) => {
    for (const one of journal.people) one.erase = { ackedAt: 1 };
  },
  I16: ({ client }) =>
    client.query(`update profiles.profiles set traits = '{"note": "the sink password is"}'`),
  I17: ({ samples }) => samples.residentMiB.set('api 1', 10_000),
  I18: ({ samples }) => samples.payloads.add('{"email": "ann@people.test"}'),
  I19: ({ client }) => client.query('delete from identity.links'),
  I20: ({ client }) => client.query('update delivery.sends set attempt_count = 2'),
};

const refuseAll: Plant = ({ seen }) => {
  for (const one of seen) one.taken = 'no';
};

const stand = (status: string, attempt_count: number): Stand => ({
  status,
  attempt_count,
  facts: [],
});

/** More ways in which some of them come to be broken. */
const morePlants: [id: string, how: string, plant: Plant][] = [
  [
    'I4',
    'a run that is through, and mailed nobody',
    ({ client }) => client.query('delete from delivery.sends'),
  ],
  [
    'I5',
    'a message that was taken twice, once by what is recorded',
    async ({ client, seen }) => {
      await handOffAgain(client, 'deferred', 'ended_at');
      seen.push(...seen.map((one) => ({ ...one, message_id: 'second' })));
    },
  ],
  [
    'I6',
    'a send that is accepted, and that no provider saw',
    ({ seen }) => {
      seen.length = 0;
    },
  ],
  ['I6', 'one that was accepted, and the provider refused', refuseAll],
  [
    'I6',
    'one that is tried again, and the provider took',
    ({ client }) => client.query(`update delivery.attempts set outcome = 'deferred'`),
  ],
  [
    'I6',
    'one that is accepted, and nobody said so',
    ({ client }) => client.query(`update delivery.attempts set outcome = 'unknown'`),
  ],
  [
    'I7',
    'a send that was accepted and not handed off since it waited',
    ({ samples }) => samples.sends.set('one', [stand('queued', 1), stand('accepted', 1)]),
  ],
  [
    'I7',
    'a hand-off that began before the last had ended',
    ({ client }) => handOffAgain(client, 'deferred', `started_at - interval '1 ms'`),
  ],
  [
    'I7',
    'a hand-off that began though the last may have been taken',
    ({ client }) => handOffAgain(client, 'unknown', 'ended_at'),
  ],
  [
    'I7',
    'a hand-off that is not written down',
    ({ client }) => client.query('update delivery.attempts set attempt = 2'),
  ],
  [
    'I7',
    'a hand-off without an end, of a send that is through',
    ({ client }) => client.query('update delivery.attempts set outcome = null, ended_at = null'),
  ],
  [
    'I17',
    'a queue past its bound',
    ({ samples }) => samples.queues.set('worker 1 outcomes', { most: 101, max: 100 }),
  ],
  ['I17', 'a queue of which nobody said how long it was', ({ samples }) => samples.queues.clear()],
  [
    'I19',
    'a key that nobody made',
    ({ client }) =>
      copy(client, 'projects.api_keys', {
        key_id: crypto.randomUUID(),
        key_hash: `\\x${'ab'.repeat(KEY_HASH_BYTES)}`,
        created_at: 'now',
      }),
  ],
  [
    'I19',
    'a key that nobody revoked',
    ({ client }) => client.query('update projects.api_keys set revoked_at = now()'),
  ],
  ['I19', 'an entry of a key that nobody made', ({ client }) => addEntry(client, 'keys.issue')],
  [
    'I19',
    'a provider that nobody changed',
    ({ client }) => client.query('update providers.providers set updated_at = now()'),
  ],
  [
    'I19',
    'a provider that is not as it was answered',
    ({ journal }) =>
      journal.made.push({
        projectId: ids.project,
        what: 'provider',
        id: crypto.randomUUID(),
        stands: 'Spare',
      }),
  ],
  [
    'I19',
    'an automation that nobody stopped',
    ({ client }) =>
      client.query(`update automations.automations set status = 'paused', updated_at = now()`),
  ],
  [
    'I19',
    'an automation that is not as it was answered',
    async ({ client, journal }) => {
      const { rows } = await client.query<{ id: string }>(
        'select automation_id as id from automations.automations',
      );
      const [{ id } = { id: '' }] = rows;
      journal.made.push({ projectId: ids.project, what: 'automation', id, stands: 'paused' });
    },
  ],
  [
    'I14',
    'a timeline that shows what is not theirs, and lacks what is',
    ({ journal, timelines }) =>
      timelines.push({ person: { ...person, projectId: ids.project }, ops: ['strange'] }) &&
      journal.people.push({ ...person, projectId: ids.project }),
  ],
  [
    'I19',
    'a change without its entry in the audit log',
    ({ journal }) =>
      journal.changed.push({ projectId: ids.project, kind: 'lift', requestId: 'x', isDone: true }),
  ],
  [
    'I19',
    'a change with two',
    async ({ client, journal }) => {
      journal.changed.push({ projectId: ids.project, kind: 'a', requestId: 'twice', isDone: true });
      await addEntry(client, 'POST /v1/x', 'twice');
      await addEntry(client, 'POST /v1/x', 'twice');
    },
  ],
  [
    'I20',
    'a counter that counts what did not happen',
    ({ client }) =>
      client.query(
        `insert into segments.counters
        select project_id, identity_id, gen_random_uuid(), '1970-01-01', 7, now(), now() from identity.identities`,
      ),
  ],
];

/** Plants it where no constraint stands in its way, judges, and takes everything back. */
const findBroken = async (id: string, plant: Plant): Promise<string[]> => {
  const client = world.owner;
  await client.query('begin');
  await client.query('set local session_replication_role = replica');
  try {
    const evidence = await gather(client);
    await plant(evidence);
    return (await invariants.find((one) => one.id === id)?.find(evidence)) ?? [];
  } finally {
    await client.query('rollback');
  }
};

test('there are twenty invariants, and each can be broken', () => {
  const numbered = Array.from({ length: 20 }, (_, at) => `I${at + 1}`);
  expect(invariants.map(({ id }) => id)).toEqual(numbered);
  expect(Object.keys(plants)).toEqual(numbered);
});

test.each(invariants)('$id holds where nothing went wrong: $text', async ({ id }) => {
  expect(await findBroken(id, () => {})).toEqual([]);
});

test.each(invariants)('$id notices what breaks it: $text', async ({ id }) => {
  expect(await findBroken(id, plants[id] ?? (() => {}))).not.toEqual([]);
});

test.each(morePlants)('%s notices %s', async (id, _how, plant) => {
  expect(await findBroken(id, plant)).not.toEqual([]);
});
