import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectAs, connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { keyOf, newEvent, YEAR } from './some_events.ts';

const database = testDatabase();

const accept = (projectId: string, events: EventRow[]) =>
  acceptEvents(database.deps.db, projectId, newId(), events);
const select = async (columns: string, table: string, projectId: string) =>
  (
    await database.owner.query(`select ${columns} from ingest.${table} where project_id = $1`, [
      projectId,
    ])
  ).rows;

test('an event is stored as it came, with the database’s clock as its arrival', async () => {
  const projectId = newId();
  const event = newEvent({
    message_id: 'm-1',
    anonymous_id: 'anon',
    properties: JSON.stringify({
      plan: 'pro',
      n: 1.5,
      ok: true,
      text: 'a "quoted" \\ {brace}, NULL',
    }),
    occurred_at: `${YEAR}-01-31T13:00:00.123+01:00`,
    source: 'browser',
    key_kind: 'publishable',
  });
  expect(await accept(projectId, [event])).toEqual({
    stored_ids: [event.event_id],
    duplicates: [false],
  });
  const { message_key, traceparent: _, ...stored } = event;
  expect(await select('*', 'events', projectId)).toEqual([
    {
      ...stored,
      project_id: projectId,
      properties: JSON.parse(event.properties),
      occurred_at: new Date(`${YEAR}-01-31T12:00:00.123Z`),
      received_at: expect.any(Date),
    },
  ]);
  expect(await select('message_key, event_id', 'message_ids', projectId)).toEqual([
    { message_key, event_id: event.event_id },
  ]);
});

test('an event without a time occurred when it was received', async () => {
  const projectId = newId();
  await accept(projectId, [newEvent()]);
  const rows = await select('occurred_at = received_at as is_same', 'events', projectId);
  expect(rows).toEqual([{ is_same: true }]);
});

test('a flush leaves one note with its events and the range of their times', async () => {
  const projectId = newId();
  const times = [`${YEAR}-03-01T00:00:00Z`, `${YEAR}-01-01T00:00:00Z`, `${YEAR}-02-01T00:00:00Z`];
  const events = times.map((occurred_at) => newEvent({ occurred_at }));
  await accept(projectId, events);
  const notes = await select('event_ids, occurred_from, occurred_to', 'pending', projectId);
  expect(notes).toEqual([
    {
      event_ids: expect.arrayContaining(events.map(({ event_id }) => event_id)),
      occurred_from: new Date(times[1] as string),
      occurred_to: new Date(times[0] as string),
    },
  ]);
});

test('the note has the traces of events that have one, and is null where none has', async () => {
  const projectId = newId();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const traced = newEvent({ traceparent });
  await accept(projectId, [newEvent(), traced]);
  await accept(projectId, [newEvent()]);
  const notes = await select('traces', 'pending', projectId);
  expect(notes).toEqual([{ traces: { [traced.event_id]: traceparent } }, { traces: null }]);
});

test('a repeated message id answers with the first event, stores nothing and notes no work', async () => {
  const projectId = newId();
  const first = newEvent({ message_id: 'm', name: 'first_name' });
  const again = newEvent({
    message_id: 'm',
    name: 'other_name',
    occurred_at: `${YEAR}-01-01T00:00:00Z`,
  });
  await accept(projectId, [first]);
  expect(await accept(projectId, [again])).toEqual({
    stored_ids: [first.event_id],
    duplicates: [true],
  });
  expect(await select('name', 'events', projectId)).toEqual([{ name: 'first_name' }]);
  expect(await select('flush_id', 'pending', projectId)).toHaveLength(1);
});

test('answers come in the order of the request, duplicates among news', async () => {
  const projectId = newId();
  const old = newEvent({ message_id: 'old' });
  await accept(projectId, [old]);
  const [a, b, c, d] = ['z', 'old', null, 'a'].map((message_id) => newEvent({ message_id })) as [
    EventRow,
    EventRow,
    EventRow,
    EventRow,
  ];
  expect(await accept(projectId, [a, b, c, d])).toEqual({
    stored_ids: [a.event_id, old.event_id, c.event_id, d.event_id],
    duplicates: [false, true, false, false],
  });
  expect(await select('event_id', 'events', projectId)).toHaveLength(4);
  const notes = await select('cardinality(event_ids) as count', 'pending', projectId);
  expect(notes.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual([1, 3]);
});

test('of one message id twice in a flush, the first in the request is the event', async () => {
  const projectId = newId();
  const events = ['one', 'two', 'three'].map((name) => newEvent({ message_id: 'm', name }));
  const { stored_ids, duplicates } = await accept(projectId, events);
  expect(stored_ids).toEqual(Array(3).fill(events[0]?.event_id));
  expect(duplicates).toEqual([false, true, true]);
  expect(await select('name', 'events', projectId)).toEqual([{ name: 'one' }]);
});

test('a message id is one project’s own', async () => {
  for (const projectId of [newId(), newId()])
    expect(await accept(projectId, [newEvent({ message_id: 'm' })])).toMatchObject({
      duplicates: [false],
    });
});

test('what cannot be stored leaves nothing: no event, no message id, no note', async () => {
  const projectId = newId();
  const nobody = newEvent({ external_id: null, anonymous_id: null });
  await expect(accept(projectId, [newEvent({ message_id: 'm' }), nobody])).rejects.toThrow();
  for (const table of ['events', 'message_ids', 'pending'])
    expect(await select('project_id', table, projectId)).toEqual([]);
});

test('a time for which there is no partition is refused by the table, never put elsewhere', async () => {
  for (const occurred_at of ['2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z'])
    await expect(accept(newId(), [newEvent({ occurred_at })])).rejects.toThrow();
});

test('flushes with the same message ids in opposite orders neither deadlock nor double', async () => {
  const projectId = newId();
  for (let round = 0; round < 10; round += 1) {
    const ids = Array.from({ length: 100 }, (_, at) => `${round}/${at}`);
    const flush = (order: string[]) =>
      accept(
        projectId,
        order.map((message_id) => newEvent({ message_id })),
      );
    const [one, other] = await Promise.all([flush(ids), flush(ids.toReversed())]);
    expect(one.stored_ids).toEqual(other.stored_ids.toReversed());
    expect(one.duplicates.map((isDuplicate) => !isDuplicate)).toEqual(
      other.duplicates.toReversed(),
    );
  }
  expect(await select('event_id', 'events', projectId)).toHaveLength(1_000);
});

test('a flush waits for another’s message id, and takes it over when that one is rolled back', async () => {
  const projectId = newId();
  for (const end of ['commit', 'rollback']) {
    const other = await connectTo(database, projectId);
    const theirs = newId();
    await other.query('begin');
    await other.query(
      'insert into ingest.message_ids (project_id, message_key, event_id, occurred_at) values ($1, $2, $3, now())',
      [projectId, keyOf(end), theirs],
    );
    const event = newEvent({ message_id: end });
    const accepting = accept(projectId, [event]);
    await untilWaiting(database);
    expect(await isSettled(accepting)).toBe(false);
    await other.query(end);
    expect(await accepting).toEqual({
      stored_ids: [end === 'commit' ? theirs : event.event_id],
      duplicates: [end === 'commit'],
    });
  }
});

test('nobody is woken inside the transaction: it makes no job and no notification', async () => {
  const listener = await connectAs(database, 'trunkline_queue');
  const heard: unknown[] = [];
  listener.on('notification', (message) => heard.push(message));
  await listener.query('listen "jobs:insert"');
  await accept(newId(), [newEvent()]);
  await listener.query('select 1');
  expect(heard).toEqual([]);
  const { rowCount } = await database.owner.query('select from graphile_worker._private_jobs');
  expect(rowCount).toBe(0);
});

test('an event whose message id is forgotten while it waits is stored as new, once, and known', async () => {
  const projectId = newId();
  await accept(projectId, [newEvent({ message_id: 'a' })]);
  // Claimed in the order of their keys.
  const later = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].find((id) => keyOf(id) > keyOf('a')) ?? '';
  // Somebody holds the second id, so that the flush waits between its claim of the first and its look-up.
  const other = await connectTo(database, projectId);
  await other.query('begin');
  await other.query(
    `insert into ingest.message_ids (project_id, message_key, event_id, occurred_at) values ($1, $2, $3, now())`,
    [projectId, keyOf(later), newId()],
  );
  const again = [newEvent({ message_id: 'a' }), newEvent({ message_id: later })];
  const accepting = accept(projectId, again);
  await untilWaiting(database);
  await database.owner.query(
    'delete from ingest.message_ids where project_id = $1 and message_key = $2',
    [projectId, keyOf('a')],
  );
  await other.query('rollback');
  expect(await accepting).toMatchObject({ duplicates: [false, false] });
  expect(await accept(projectId, [newEvent({ message_id: 'a' })])).toMatchObject({
    duplicates: [true],
  });
});

test('the note of a flush names the key of each event of a browser that was stored, in their order', async () => {
  const projectId = newId();
  const [one, two] = [newId(), newId()];
  const ofKey = (key_id: string, message_id: string | null = null) =>
    newEvent({ source: 'browser', key_kind: 'publishable', key_id, message_id });
  await accept(projectId, [ofKey(one, 'once')]);
  const events = [
    ofKey(two),
    newEvent(),
    ofKey(one, 'once'),
    ofKey(one),
    newEvent({ key_id: null }),
  ];
  await accept(projectId, events);
  const notes = await select('event_ids, key_id, key_ids', 'pending', projectId);
  expect(notes).toContainEqual({
    event_ids: [0, 1, 3, 4].map((at) => events[at]?.event_id),
    key_id: null,
    key_ids: [two, null, one, null],
  });
});

test('the note of a flush of servers names no key', async () => {
  const projectId = newId();
  await accept(projectId, [newEvent(), newEvent()]);
  expect(await select('key_id, key_ids', 'pending', projectId)).toEqual([
    { key_id: null, key_ids: null },
  ]);
});
