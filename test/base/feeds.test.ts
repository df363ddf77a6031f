// One reader for everybody who looks on: begun by the first who asks, ended by the last who leaves.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb, sql } from '../../src/base/db.ts';
import type { Db, Scope } from '../../src/base/db.ts';
import { FEED_EVERY_MS, Feeds } from '../../src/base/feeds.ts';
import { newId } from '../../src/base/ids.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const projectId = newId();

/** When the database was asked what people look on at. */
let asked: number[] = [];
let db: Db;
let feeds: Feeds;
beforeAll(async () => {
  const counter = {
    name: 'counter',
    beforeQueryExecution: (_: unknown, query: { sql: string }) => {
      if (query.sql.includes('as looked_on')) asked.push(performance.now());
      return null;
    },
  };
  db = await openDb(runtimeUrl(database.url, database.deps.keys), 4, [counter]);
  feeds = new Feeds({ db, keys: database.deps.keys });
});
afterAll(() => db.end());

const source = {
  name: 'test',
  read: async ({ tx }: Scope) => {
    await tx.query(sql.unsafe`select 1 as looked_on`);
    return { items: [] };
  },
};
const look = () => {
  const leaving = new AbortController();
  return { told: feeds.watch({ projectId, source }, leaving.signal), leave: () => leaving.abort() };
};

/** How far apart the questions must be: timers of Node may be a millisecond early. */
const APART_MS = FEED_EVERY_MS - 5;
const expectApart = (): void => {
  for (const [at, one] of asked.entries())
    if (at > 0) expect(one - (asked[at - 1] ?? 0)).toBeGreaterThan(APART_MS);
};

test('however many look on, the database is asked once each time', async () => {
  asked = [];
  const looking = Array.from({ length: 3 }, look);
  for (const { told } of looking) expect((await told.next()).value).toEqual({ items: [] });
  const waiting = looking.map(({ told }) => told.next());
  await until('it is asked again', () => asked.length >= 3);
  expectApart();
  expect(feeds.count).toBe(1);
  for (const { leave } of looking) leave();
  expect(await Promise.all(waiting)).toEqual(looking.map(() => ({ done: true, value: undefined })));
  expect(feeds.count).toBe(0);
});

test('what is not begun reads nothing, and nothing is left of it', async () => {
  asked = [];
  const { told } = look();
  expect(feeds.count).toBe(0);
  await told.return();
  const over = AbortSignal.abort();
  expect((await feeds.watch({ projectId, source }, over).next()).done).toBe(true);
  expect([feeds.count, asked.length]).toEqual([0, 0]);
});

test('begun again while it is still looked, it is asked no more often', async () => {
  asked = [];
  const [first, second] = [look(), look()];
  const before = first.told.next();
  first.leave();
  expect((await before).done).toBe(true);
  await second.told.next();
  const waiting = second.told.next();
  await until('it is asked again', () => asked.length >= 5);
  // Whoever came first asked once for themselves, and the other four times.
  expect((asked[4] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(3 * APART_MS);
  second.leave();
  await waiting;
  expect(feeds.count).toBe(0);
});
