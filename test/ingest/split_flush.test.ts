import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { claimFlushes, splitFlush } from '../../src/ingest/flush_queries.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent, YEAR } from './some_events.ts';

const database = testDatabase();

/** A flush of so many events; answers its id and theirs. */
const flush = async (projectId: string, count: number) => {
  const events = Array.from({ length: count }, (_, at) =>
    newEvent({ occurred_at: `${YEAR}-01-${10 + at}T00:00:00Z` }),
  );
  const flushId = newId();
  await acceptEvents(database.deps.db, projectId, flushId, events);
  return { flushId, eventIds: events.map(({ event_id }) => event_id) };
};
const split = (projectId: string, flushId: string, halves: [string, string]) =>
  inProject(database.deps, projectId, (scope) => splitFlush(scope, flushId, halves));
const pending = async (projectId: string) =>
  (
    await database.owner.query(
      'select * from ingest.pending where project_id = $1 order by flush_id',
      [projectId],
    )
  ).rows;

test.each([2, 3, 10, 15])(
  'a flush of %i becomes two: each event is in one of them, in its order',
  async (count) => {
    const projectId = newId();
    const { flushId, eventIds } = await flush(projectId, count);
    const [whole] = await pending(projectId);
    const halves: [string, string] = [newId(), newId()];
    expect(await split(projectId, flushId, halves)).toBe(true);
    const half = Math.floor(count / 2);
    expect(await pending(projectId)).toEqual([
      { ...whole, flush_id: halves[0], event_ids: eventIds.slice(0, half) },
      { ...whole, flush_id: halves[1], event_ids: eventIds.slice(half) },
    ]);
  },
);

test('each half takes along the traces of its own events', async () => {
  const projectId = newId();
  const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${'b'.repeat(16)}-01`;
  const events = [traceparentOf('1'), traceparentOf('2'), null, traceparentOf('4')].map(
    (traceparent) => newEvent({ traceparent }),
  );
  const flushId = newId();
  await acceptEvents(database.deps.db, projectId, flushId, events);
  await split(projectId, flushId, [newId(), newId()]);
  const [first, second, , fourth] = events.map(({ event_id }) => event_id);
  expect((await pending(projectId)).map(({ traces }) => traces)).toEqual([
    { [String(first)]: traceparentOf('1'), [String(second)]: traceparentOf('2') },
    { [String(fourth)]: traceparentOf('4') },
  ]);
});

test('each half takes along the publishable keys of its own events, and that of an older version', async () => {
  const projectId = newId();
  const keyIds = [newId(), null, newId()];
  const flushId = newId();
  await acceptEvents(
    database.deps.db,
    projectId,
    flushId,
    keyIds.map((key_id) => newEvent({ key_id })),
  );
  await database.owner.query('update ingest.pending set key_id = $2 where project_id = $1', [
    projectId,
    keyIds[0],
  ]);
  await split(projectId, flushId, [newId(), newId()]);
  const halves = await pending(projectId);
  expect(halves.map(({ key_ids }) => key_ids)).toEqual([keyIds.slice(0, 1), keyIds.slice(1)]);
  expect(halves.map(({ key_id }) => key_id)).toEqual([keyIds[0], keyIds[0]]);
});

test('a flush of one event is left as it is, and one that is gone is none', async () => {
  const projectId = newId();
  const { flushId } = await flush(projectId, 1);
  const before = await pending(projectId);
  expect(await split(projectId, flushId, [newId(), newId()])).toBe(false);
  expect(await split(projectId, newId(), [newId(), newId()])).toBe(false);
  expect(await pending(projectId)).toEqual(before);
});

test('another project’s flush is nobody’s to split', async () => {
  const [ours, theirs] = [newId(), newId()];
  const { flushId } = await flush(theirs, 2);
  expect(await split(ours, flushId, [newId(), newId()])).toBe(false);
  expect(await pending(theirs)).toHaveLength(1);
});

test('halves are due at once, and taken after whatever waits already', async () => {
  const projectId = newId();
  const first = await flush(projectId, 4);
  const second = await flush(projectId, 1);
  const halves: [string, string] = [newId(), newId()];
  await split(projectId, first.flushId, halves);
  const claimed = await inProject(database.deps, projectId, (scope) => claimFlushes(scope, 10));
  expect(claimed.flushIds).toEqual([second.flushId, ...halves]);
});

test('two who split one flush at once: the second waits and finds it gone', async () => {
  const projectId = newId();
  const { flushId } = await flush(projectId, 4);
  const other = await connectTo(database, projectId);
  await other.query('begin');
  await other.query('select ingest.split_flush($1, $2, $3, $4)', [
    projectId,
    flushId,
    newId(),
    newId(),
  ]);
  const splitting = split(projectId, flushId, [newId(), newId()]);
  await untilWaiting(database);
  expect(await isSettled(splitting)).toBe(false);
  await other.query('commit');
  expect(await splitting).toBe(false);
  expect(await pending(projectId)).toHaveLength(2);
});
