import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent, YEAR } from './some_events.ts';

const database = testDatabase();

const flush = async (projectId: string, events: EventRow[]): Promise<string> => {
  const flushId = newId();
  await acceptEvents(database.deps.db, projectId, flushId, events);
  return flushId;
};

const read = async (projectId: string, flushIds: string[]): Promise<string[]> => {
  const client = await connectTo(database, projectId);
  const { rows } = await client.query('select event_id from ingest.pending_events($1, $2)', [
    projectId,
    flushIds,
  ]);
  return rows.map(({ event_id }) => event_id as string).toSorted();
};
const idsOf = (events: EventRow[]) => events.map(({ event_id }) => event_id).toSorted();

test('the events of the flushes that were asked for, and no others', async () => {
  const projectId = newId();
  const [one, two, three] = [1, 2, 3].map((count) =>
    Array.from({ length: count }, () => newEvent()),
  ) as [EventRow[], EventRow[], EventRow[]];
  const first = await flush(projectId, one);
  await flush(projectId, two);
  const third = await flush(projectId, three);
  expect(await read(projectId, [first, third, third])).toEqual(idsOf([...one, ...three]));
  expect(await read(projectId, [])).toEqual([]);
  expect(await read(newId(), [first])).toEqual([]);
});

test('events at the very ends of the range are there, to the fraction of a millisecond', async () => {
  const projectId = newId();
  const events = [
    `${YEAR}-01-31T23:59:59.9999999Z`,
    `${YEAR}-01-01T00:00:00.0004Z`,
    `${YEAR}-01-01T00:00:00.0006Z`,
    `${YEAR - 1}-12-31T23:59:59.999Z`,
  ].map((occurred_at) => newEvent({ occurred_at }));
  expect(await read(projectId, [await flush(projectId, events)])).toEqual(idsOf(events));
});

test('events over the whole accepted range of one flush are all there', async () => {
  const projectId = newId();
  const DAY_MS = 86_400_000;
  const events = [-700, -400, -31, -1, 0, 1].map((days) =>
    newEvent({ occurred_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
  );
  expect(await read(projectId, [await flush(projectId, events)])).toEqual(idsOf(events));
});

test('a duplicate is not among the events of its second flush', async () => {
  const projectId = newId();
  const first = await flush(projectId, [newEvent({ message_id: 'm' })]);
  const fresh = newEvent();
  const second = await flush(projectId, [newEvent({ message_id: 'm' }), fresh]);
  expect(await read(projectId, [second])).toEqual(idsOf([fresh]));
  expect(await read(projectId, [first, second])).toHaveLength(2);
});

test('only the partitions of the flush’s own months are read', async () => {
  const projectId = newId();
  const flushId = await flush(projectId, [newEvent({ occurred_at: `${YEAR}-01-15T00:00:00Z` })]);
  const client = await connectTo(database, projectId);
  await client.query(`select pg_stat_force_next_flush()`);
  await database.owner.query('select pg_stat_reset()');
  await client.query('select event_id from ingest.pending_events($1, $2)', [projectId, [flushId]]);
  await client.query(`select pg_stat_force_next_flush()`);
  const { rows } = await database.owner.query(
    `select relname from pg_stat_user_tables
    where relname like 'events\\_%' and coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0`,
  );
  expect(rows).toEqual([{ relname: `events_${YEAR}01` }]);
});
