import { afterEach, expect, test } from 'vitest';
import type { Caller } from '../../src/base/caller.ts';
import { newId } from '../../src/base/ids.ts';
import { accept, acceptOne } from '../../src/ingest/ingest.ts';
import { EventInput } from '../../src/ingest/schema.ts';
import { admit } from '../../src/quotas/quotas.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { testDatabase } from '../support/database.ts';
import { YEAR } from './some_events.ts';

const database = testDatabase();
const HOUR_MS = 3_600_000;

const callerOf = (kind: Caller['kind'] = 'server'): Caller => ({ projectId: newId(), kind });
const event = (given: Partial<EventInput> = {}): EventInput =>
  EventInput.parse({ event: 'user_signed_up', external_id: 'ann', ...given });
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();
const storedOf = async ({ projectId }: Caller) =>
  (
    await database.owner.query(
      'select occurred_at, source, key_kind from ingest.events where project_id = $1',
      [projectId],
    )
  ).rows;

afterEach(() => database.deps.resources.close());

test('events are counted apart from repeats, with an id for each', async () => {
  const caller = callerOf();
  const first = await acceptOne(database.deps, caller, event({ message_id: 'm' }));
  expect(first).toEqual({ accepted: 1, duplicates: 0, event_ids: [expect.any(String)] });
  const again = await accept(database.deps, caller, {
    events: [event(), event({ message_id: 'm' })],
  });
  expect(again).toEqual({
    accepted: 1,
    duplicates: 1,
    event_ids: [expect.any(String), first.event_ids[0]],
  });
});

test('a request known by a repetition id stores its events once, also those without a message id', async () => {
  const caller = callerOf();
  const batch = { events: [event(), event(), event({ message_id: 'own' })], repetitionId: newId() };
  const first = await accept(database.deps, caller, batch);
  expect(first).toMatchObject({ accepted: 3, duplicates: 0 });
  const again = await accept(database.deps, caller, batch);
  expect(again).toEqual({ accepted: 0, duplicates: 3, event_ids: first.event_ids });
  const other = await accept(database.deps, caller, { ...batch, repetitionId: newId() });
  expect(other).toMatchObject({ accepted: 2, duplicates: 1 });
  expect(await storedOf(caller)).toHaveLength(5);
});

test('the kind of key says where an event came from', async () => {
  for (const [kind, source] of [
    ['publishable', 'browser'],
    ['server', 'server'],
  ] as const) {
    const caller = callerOf(kind);
    await acceptOne(database.deps, caller, event(), { admit });
    expect(await storedOf(caller)).toMatchObject([{ source, key_kind: kind }]);
  }
});

test('events of a publishable key without an admission are a bug: nothing is stored', async () => {
  const caller = { ...callerOf('publishable'), keyId: newId() };
  for (const store of [
    acceptOne(database.deps, caller, event()),
    accept(database.deps, caller, { events: [event()], admit: undefined }),
  ])
    await expect(store).rejects.toThrow('need `admit`');
  expect(await storedOf(caller)).toEqual([]);
  expect((await acceptOne(database.deps, caller, event(), { admit })).accepted).toBe(1);
});

test('400 events of two publishable keys in turns share a few flushes, and each note names both keys', async () => {
  const projectId = newId();
  const keys = [newId(), newId()];
  await Promise.all(
    Array.from({ length: 400 }, (_, at) => {
      const caller = { projectId, kind: 'publishable' as const, keyId: keys[at % 2] };
      return acceptOne(database.deps, caller, event({ external_id: `ann ${at}` }), { admit });
    }),
  );
  const { rows } = await database.owner.query(
    'select event_ids, key_id, key_ids from ingest.pending where project_id = $1',
    [projectId],
  );
  expect(rows.flatMap(({ event_ids }) => event_ids)).toHaveLength(400);
  expect(rows.length).toBeLessThanOrEqual(10);
  const named = rows.flatMap(({ key_ids }) => key_ids);
  expect(keys.map((key) => named.filter((one) => one === key).length)).toEqual([200, 200]);
  expect(rows.filter(({ key_id }) => key_id !== null)).toEqual([]);
});

test('a batch with times out of range is refused whole, each by its place', async () => {
  const caller = callerOf();
  const late = event({ occurred_at: fromNow(25 * HOUR_MS) });
  const refusal = await refusalOf(
    accept(database.deps, caller, { events: [event(), late, event(), late] }),
  );
  expect(refusal.reason).toBe('occurred_at_out_of_range');
  expect(refusal.extras.issues?.map(({ path }) => path)).toEqual([
    '/events/1/occurred_at',
    '/events/3/occurred_at',
  ]);
  expect(await storedOf(caller)).toEqual([]);
});

test('alone, a time out of range is named by its place in the event', async () => {
  const old = event({ occurred_at: fromNow(-31 * 24 * HOUR_MS) });
  const refusal = await refusalOf(acceptOne(database.deps, callerOf('publishable'), old));
  expect(refusal.extras.issues).toEqual([
    { path: '/occurred_at', message: expect.stringContaining('30 days') },
  ]);
});

test.each([
  ['an offset that no zone has, ahead', `${YEAR - 1}-06-01T12:00:00+23:59`],
  ['an offset that no zone has, behind', `${YEAR - 1}-06-01T12:00:00-16:00`],
  ['two hundred digits after the second', `${YEAR - 1}-06-01T12:00:00.${'1'.repeat(200)}Z`],
  ['the edge of what zones have', `${YEAR - 1}-06-01T12:00:00+14:00`],
])('a time with %s is stored as the moment it names, or refused', async (_what, occurred_at) => {
  const caller = callerOf();
  const parsed = EventInput.safeParse({ event: 'x', external_id: 'ann', occurred_at });
  if (!parsed.success) return;
  await acceptOne(database.deps, caller, parsed.data);
  expect(await storedOf(caller)).toMatchObject([{ occurred_at: new Date(occurred_at) }]);
});

test('requests at once share flushes and are each answered with their own events', async () => {
  const caller = callerOf();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      accept(database.deps, caller, {
        events: [event({ message_id: `m-${at}` }), event({ message_id: 'shared' })],
      }),
    ),
  );
  expect(new Set(answers.map(({ event_ids }) => event_ids[0])).size).toBe(40);
  expect(new Set(answers.map(({ event_ids }) => event_ids[1])).size).toBe(1);
  expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(41);
  const { rows } = await database.owner.query(
    `select count(*)::integer as flushes, sum(cardinality(event_ids))::integer as events
    from ingest.pending where project_id = $1`,
    [caller.projectId],
  );
  expect(rows[0].events).toBe(41);
  expect(rows[0].flushes).toBeLessThan(40);
});

test('properties of any content that the schema takes are stored as they are', async () => {
  const caller = callerOf();
  const properties = {
    quotes: '"\\"\'',
    braces: '{a,b},NULL,{}',
    unicode: '👋 \u2028 \uffff',
    control: '\u0001\t\n\r\u007f',
    tiny: 5e-324,
    fraction: -0.1,
    large: Number.MAX_SAFE_INTEGER,
  };
  await acceptOne(database.deps, caller, event({ properties }));
  const { rows } = await database.owner.query(
    'select properties from ingest.events where project_id = $1',
    [caller.projectId],
  );
  expect(rows).toEqual([{ properties }]);
});
