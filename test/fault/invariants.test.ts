// Each invariant is held to what it is for: a world in which nothing went wrong, and one violation planted in it.
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { alias } from '../../src/profiles/identify.ts';
import { createProject } from '../../src/projects/projects.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import { noSamples } from './evidence.ts';
import type { Evidence } from './evidence.ts';
import { invariants, QUEUES } from './invariants.ts';
import { Journal } from './journal.ts';
import type { AskedEvent } from './journal.ts';
import { leftovers } from './leftovers.ts';
import { morePlants } from './more_plants.ts';
import { ann, email, ids, person, plants } from './plants.ts';
import type { Plant } from './plants.ts';
import { plantsOfCounts } from './plants_of_counts.ts';
import { listReferences } from './references.ts';
import { findUnfinished } from './unfinished.ts';
import { look } from './watch.ts';

const SETUP_TIMEOUT_MS = 120_000;

const world = testWorld();
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
  await alias(world.deps, caller, ann, automations.followLink);
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
  const { keys } = world.deps;
  const keyOf = (projectId: string, address: string) => addressKey({ keys, projectId }, address);
  return {
    client,
    journal,
    samples,
    seen,
    seenUntil: new Date(),
    timelines: [],
    addressKey: keyOf,
    secrets,
    leaks: [],
  };
};

/** Works where no constraint stands in its way, and takes everything back. */
const undone = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = world.owner;
  await client.query('begin');
  await client.query('set local session_replication_role = replica');
  try {
    return await work(client);
  } finally {
    await client.query('rollback');
  }
};

/** Plants it, and judges. */
const findBroken = (id: string, plant: Plant): Promise<string[]> =>
  undone(async (client) => {
    const evidence = await gather(client);
    await plant(evidence);
    return (await invariants.find((one) => one.id === id)?.find(evidence)) ?? [];
  });

/** Some that must be among them: also those that are called more than what they name. */
const REFERENCES = [
  'automations.runs.identity_id identity.identities',
  'automations.runs.trigger_event_id ingest.events',
  'delivery.attempts.send_id delivery.sends',
  'delivery.sends.profile_id profiles.profiles',
  'delivery.sends.provider_id providers.providers',
  'delivery.sends.run_id automations.runs',
  'delivery.sends.template_id rendering.heads',
  'identity.identities.own_profile_id profiles.profiles',
  'identity.identities.profile_id profiles.profiles',
  'identity.links.anonymous_identity_id identity.identities',
  'identity.links.external_identity_id identity.identities',
  'ingest.message_ids.event_id ingest.events',
];

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

test.each([...morePlants, ...plantsOfCounts])('%s notices %s', async (id, _how, plant) => {
  expect(await findBroken(id, plant)).not.toEqual([]);
});

test('I6 asks of no provider whether it saw what was handed over after the last look', async () => {
  const broken = await findBroken('I6', async (evidence) => {
    const { rows } = await evidence.client.query<{ at: Date }>(
      'select min(started_at) as at from delivery.attempts',
    );
    evidence.seen.length = 0;
    evidence.seenUntil = new Date((rows[0]?.at.getTime() ?? 0) - 1);
  });
  expect(broken).toEqual([]);
});

test.each(leftovers)('%s, %s, is left to do', async (what, _how, plant) => {
  const left = await undone(async (client) => {
    await plant(client);
    return findUnfinished(client);
  });
  expect(left).toEqual([expect.stringMatching(`^${what}: `)]);
});

test('what names what is known by the catalogue: one thing each', async () => {
  const references = await listReferences(world.owner);
  const names = references.map(({ table, column, other }) => `${table}.${column} ${other}`);
  expect(names).toEqual(expect.arrayContaining(REFERENCES));
  expect(new Set(names).size).toBe(names.length);
});
