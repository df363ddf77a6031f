import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectAs, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();

const monthStart = (monthsAgo: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1));
};
const nameOf = (month: Date): string =>
  `events_${month.toISOString().slice(0, 7).replace('-', '')}`;
const CUT = monthStart(24);
const LOCK_NOT_AVAILABLE = '55P03';

const drop = async (client = database.owner, before = CUT): Promise<string | null> =>
  (await client.query('select ingest.drop_partition(before => $1) as dropped', [before])).rows[0]
    .dropped;
const count = async (): Promise<number> =>
  (
    await database.owner.query(
      `select from pg_inherits where inhparent = 'ingest.events'::regclass`,
    )
  ).rowCount ?? 0;

beforeEach(async () => {
  await database.owner.query('rollback');
  await database.owner.query('select ingest.keep_partitions(27, 3)');
});

test('months go one a call, the oldest first, and those that are accepted stay', async () => {
  const before = await count();
  expect(await drop()).toBe(nameOf(monthStart(27)));
  expect(await drop()).toBe(nameOf(monthStart(26)));
  expect(await drop()).toBe(nameOf(monthStart(25)));
  expect(await drop()).toBeNull();
  expect(await count()).toBe(before - 3);
  expect(before - 3).toBe(28);
});

test('the events of a month go with it, and no others', async () => {
  const projectId = newId();
  const accept = (occurredAt: Date) =>
    acceptEvents(database.deps.db, projectId, newId(), [
      newEvent({ occurred_at: occurredAt.toISOString() }),
    ]);
  await accept(monthStart(25));
  await accept(new Date(monthStart(24).getTime() - 1));
  await accept(monthStart(24));
  while ((await drop()) !== null);
  const { rows } = await database.owner.query(
    'select occurred_at from ingest.events where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ occurred_at: monthStart(24) }]);
});

test('a month that was over for less than a month is not dropped, whoever asks', async () => {
  for (const before of [new Date(), monthStart(0), monthStart(-3)])
    await expect(drop(database.owner, before)).rejects.toThrow(/only months that are over/);
});

test('the queue’s role may call it, without any right to drop tables itself; the runtime role may not', async () => {
  const queue = await connectAs(database, 'trunkline_queue');
  expect(await drop(queue)).toBe(nameOf(monthStart(27)));
  await expect(queue.query(`drop table ingest.${nameOf(monthStart(26))}`)).rejects.toThrow(
    /must be owner/,
  );
  const runtime = await connectAs(database, 'trunkline_runtime');
  await expect(drop(runtime)).rejects.toThrow(/permission denied/);
});

test('it gives way to a long transaction on the timeline, and lets others read and write meanwhile', async () => {
  const reader = await connectAs(database, 'trunkline_runtime');
  await reader.query('begin');
  await reader.query('select /* trial */ from ingest.events');
  const queue = await connectAs(database, 'trunkline_queue');
  const refused = expect(drop(queue)).rejects.toMatchObject({ code: LOCK_NOT_AVAILABLE });
  await untilWaiting(database);
  // Queues up behind who waits, and is served as soon as that one has given up.
  await acceptEvents(database.deps.db, newId(), newId(), [newEvent()]);
  await refused;
  await reader.query('commit');
  expect(await drop(queue)).toBe(nameOf(monthStart(27)));
});

test('who waited for another to drop a month drops the next one', async () => {
  const [first, second] = await Promise.all(
    [1, 2].map(() => connectAs(database, 'trunkline_queue')),
  );
  await first?.query('begin');
  expect(await drop(first)).toBe(nameOf(monthStart(27)));
  const dropping = drop(second);
  await untilWaiting(database);
  await first?.query('commit');
  expect(await dropping).toBe(nameOf(monthStart(26)));
});

test('two workers at once drop every month once: who gives way to the other asks again', async () => {
  const queues = await Promise.all([1, 2].map(() => connectAs(database, 'trunkline_queue')));
  const dropOrGiveWay = (queue: typeof database.owner) =>
    drop(queue).catch((error: { code?: string }) => {
      if (error.code !== LOCK_NOT_AVAILABLE) throw error;
      return undefined;
    });
  const dropped = await Promise.all(
    queues.map(async (queue) => {
      const names: string[] = [];
      for (let name; (name = await dropOrGiveWay(queue)) !== null;) if (name) names.push(name);
      return names;
    }),
  );
  expect(new Set(dropped.flat())).toEqual(new Set([27, 26, 25].map(monthStart).map(nameOf)));
  expect(await drop()).toBeNull();
});
