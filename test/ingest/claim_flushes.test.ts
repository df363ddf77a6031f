import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { claimFlushes } from '../../src/ingest/flush_queries.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();

const flush = async (projectId: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId());
  for (const flushId of ids) await acceptEvents(database.deps.db, projectId, flushId, [newEvent()]);
  return ids;
};
const claim = (projectId: string, flushesMax: number) =>
  inProject(
    database.deps,
    projectId,
    async (scope) => (await claimFlushes(scope, flushesMax)).flushIds,
  );

test('the oldest flushes come first, at most so many', async () => {
  const projectId = newId();
  const ids = await flush(projectId, 5);
  expect(await claim(projectId, 3)).toEqual(ids.toSorted().slice(0, 3));
  expect(await claim(projectId, 10)).toHaveLength(5);
});

test('no further one is taken once they hold so many events; nor is it kept from others', async () => {
  const projectId = newId();
  const ids: string[] = [];
  for (const events of [3, 1, 2, 1]) {
    const flushId = newId();
    const made = Array.from({ length: events }, () => newEvent());
    await acceptEvents(database.deps.db, projectId, flushId, made);
    ids.push(flushId);
  }
  const take = (eventsMax: number) =>
    inProject(database.deps, projectId, async (scope) => {
      const { flushIds, isMore } = await claimFlushes(scope, 10, eventsMax);
      return { taken: flushIds, isMore, left: await claim(projectId, 10) };
    });
  const bounds = { 1: 1, 3: 1, 4: 2, 5: 3, 6: 3, 7: 4 };
  for (const [eventsMax, count] of Object.entries(bounds)) {
    const claimed = await take(Number(eventsMax));
    const [taken, left] = [ids.slice(0, count), ids.slice(count)];
    expect(claimed, eventsMax).toEqual({ taken, isMore: true, left });
  }
  expect(await take(8)).toEqual({ taken: ids, isMore: false, left: [] });
});

test('there may be more once it has taken as many as it may, and else there is none', async () => {
  const projectId = newId();
  await flush(projectId, 3);
  const isMore = (flushesMax: number) =>
    inProject(
      database.deps,
      projectId,
      async (scope) => (await claimFlushes(scope, flushesMax)).isMore,
    );
  expect([await isMore(2), await isMore(3), await isMore(4)]).toEqual([true, true, false]);
});

test('a flush that was postponed is passed over until its time has come', async () => {
  const projectId = newId();
  const [first, second] = await flush(projectId, 2);
  const postpone = (until: string) =>
    database.owner.query(
      `update ingest.pending set failure_count = 1, retry_at = now() + $2::interval where flush_id = $1`,
      [first, until],
    );
  await postpone('1 hour');
  expect(await claim(projectId, 10)).toEqual([second]);
  await postpone('-1 millisecond');
  expect(await claim(projectId, 10)).toEqual([first, second]);
});

test('new flushes and those that are due again get half each, and what the other leaves free', async () => {
  const projectId = newId();
  const postponed = await flush(projectId, 8);
  for (const [minutes, id] of postponed.toReversed().entries())
    await database.owner.query(
      `update ingest.pending set failure_count = 1, retry_at = now() - make_interval(mins => $2)
      where flush_id = $1`,
      [id, minutes + 1],
    );
  const longestDue = postponed;
  const fresh = await flush(projectId, 7);
  expect(await claim(projectId, 10)).toEqual([...longestDue.slice(0, 5), ...fresh.slice(0, 5)]);
  expect(await claim(projectId, 15)).toEqual([...postponed, ...fresh]);
  expect(await claim(projectId, 14)).toEqual([...longestDue.slice(0, 7), ...fresh]);
  await database.owner.query('delete from ingest.pending where flush_id = any ($1)', [
    fresh.slice(2),
  ]);
  expect(await claim(projectId, 9)).toEqual([...longestDue.slice(0, 7), ...fresh.slice(0, 2)]);
  await database.owner.query('delete from ingest.pending where flush_id = any ($1)', [fresh]);
  expect(await claim(projectId, 10)).toEqual(longestDue);
});

test('no flushes are no flushes, and another project’s are nobody’s', async () => {
  const [ours, theirs] = [newId(), newId()];
  await flush(theirs, 1);
  expect(await claim(ours, 10)).toEqual([]);
  expect(await claim(theirs, 10)).toHaveLength(1);
});

test('what one transaction has claimed, another passes over without waiting', async () => {
  const projectId = newId();
  const ids = await flush(projectId, 4);
  const other = await connectTo(database, projectId);
  await other.query('begin');
  const { rows } = await other.query(
    'select claim_flushes as id from ingest.claim_flushes($1, 2)',
    [projectId],
  );
  const theirs = rows.map(({ id }) => id as string);
  const ours = await claim(projectId, 10);
  expect([...theirs, ...ours].toSorted()).toEqual(ids.toSorted());
  await other.query('rollback');
  expect(await claim(projectId, 10)).toHaveLength(4);
});

test('claims at once share the flushes out without sharing one', async () => {
  const projectId = newId();
  const ids = await flush(projectId, 30);
  const clients = await Promise.all([1, 2, 3, 4].map(() => connectTo(database, projectId)));
  const claims = await Promise.all(
    clients.map(async (client) => {
      await client.query('begin');
      const { rows } = await client.query(
        'select claim_flushes as id from ingest.claim_flushes($1, 10)',
        [projectId],
      );
      return rows.map(({ id }) => id as string);
    }),
  );
  const claimed = claims.flat();
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(ids).toEqual(expect.arrayContaining(claimed));
  for (const client of clients) await client.query('rollback');
});
