// Which months of the timeline a page touches: a table that a statement may read is locked by it.
import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { pageTimeline } from '../../src/profiles/timeline.ts';
import { z } from 'zod';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();
const projectId = newId();
const now = new Date();
const DAY_MS = 86_400_000;
const monthsAgo = (months: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1, 12));
const nameOf = (month: Date): string =>
  `events_${month.toISOString().slice(0, 7).replace('-', '')}`;

const processAll = (): Promise<void> => workOn(database, projectId);

beforeAll(async () => {
  const events = Array.from({ length: 24 }, (_, months) =>
    newEvent({ occurred_at: monthsAgo(months + 1).toISOString() }),
  );
  const twice = events.flatMap((event) => [1, 2].map(() => ({ ...event, event_id: newId() })));
  const regular = twice.map((event) => ({ ...event, external_id: 'regular' }));
  await acceptEvents(database.deps.db, projectId, newId(), [...events, ...regular]);
  await processAll();
});

const Locked = z.strictObject({ name: z.string() });
const listTouched = async ({ tx }: Scope): Promise<string[]> => {
  const rows = await tx.any(sql.type(Locked)`
    select distinct relation.relname as name
    from pg_locks join pg_class as relation on relation.oid = pg_locks.relation
    where pg_locks.pid = pg_backend_pid() and relation.relkind = 'r' and relation.relname like 'events\\_%'
    order by 1
  `);
  return rows.map(({ name }) => name);
};

type Asked = { after?: string; before?: string; limit?: number; person?: string };
const page = ({ person = 'ann', ...query }: Asked) =>
  inProject(database.deps, projectId, async (scope) => {
    const found = await identity.findByValue(scope, 'external', person);
    const { items } = await pageTimeline(scope, found?.profile_id ?? '', { limit: 50, ...query });
    return { times: items.map((item) => item.occurred_at), touched: await listTouched(scope) };
  });

test('a page over recent months does not touch old ones', async () => {
  const { times, touched } = await page({ after: monthsAgo(2).toISOString() });
  expect(times).toEqual([monthsAgo(1).toISOString()]);
  expect(touched).toEqual([2, 1].map(monthsAgo).map(nameOf));
});

test('a page of an old month finds its events and touches only that month', async () => {
  const { times, touched } = await page({
    after: monthsAgo(21).toISOString(),
    before: new Date(monthsAgo(20).getTime() - 1).toISOString(),
  });
  expect(times).toEqual([]);
  expect(touched).toEqual([21, 20].map(monthsAgo).map(nameOf));
});

test('a page that the newest month fills opens that month alone, whatever is behind it', async () => {
  const { times, touched } = await page({ person: 'regular', limit: 1 });
  expect(times).toEqual([monthsAgo(1).toISOString()]);
  expect(touched).toEqual([nameOf(monthsAgo(1))]);
});

test('a page opens no month before the person was first seen or after they were last seen', async () => {
  const events = [3, 3].map((months) =>
    newEvent({ external_id: 'newcomer', occurred_at: monthsAgo(months).toISOString() }),
  );
  await acceptEvents(database.deps.db, projectId, newId(), events);
  await processAll();
  const { times, touched } = await page({ person: 'newcomer' });
  expect(times).toEqual([3, 3].map((months) => monthsAgo(months).toISOString()));
  expect(touched).toEqual([monthsAgo(3)].map(nameOf));
});

test('old months are reachable: a page without a range holds the whole past', async () => {
  const { times } = await page({});
  expect(times).toEqual(
    Array.from({ length: 24 }, (_, months) => monthsAgo(months + 1).toISOString()),
  );
});

const countMonths = async (): Promise<number> =>
  (
    await database.owner.query(
      `select from pg_inherits where inhparent = 'ingest.events'::regclass`,
    )
  ).rowCount ?? 0;

test.each([
  ['waits to be processed', 0],
  ['was put off', 1],
])(
  'an ancient event that %s makes nobody’s page open more than the month of today',
  async (_it, failures) => {
    expect(await countMonths()).toBeGreaterThan(24);
    await database.owner.query('delete from ingest.pending');
    const before = await page({ person: 'newcomer' });
    const flushId = newId();
    const ancient = [24, 12, 1].map((months) =>
      newEvent({ external_id: 'stranger', occurred_at: monthsAgo(months).toISOString() }),
    );
    await acceptEvents(database.deps.db, projectId, flushId, ancient);
    await database.owner.query(
      `update ingest.pending set failure_count = $2, retry_at = case when $2 > 0 then now() + interval '1 hour' end
    where flush_id = $1`,
      [flushId, failures],
    );
    const { times, touched } = await page({ person: 'newcomer' });
    expect(times).toEqual(before.times);
    const recent = [new Date(Date.now() - DAY_MS), now, new Date(Date.now() + DAY_MS)].map(nameOf);
    const most = failures > 0 ? before.touched : [...before.touched, ...recent];
    expect(most).toEqual(expect.arrayContaining(touched));
    await database.owner.query('delete from ingest.pending where flush_id = $1', [flushId]);
  },
);

test('a page that its newest month fills takes two statements: whose it is, and what happened', async () => {
  const asked: string[] = [];
  const readPage = () =>
    inProject(database.deps, projectId, async (scope) => {
      const found = await identity.findByValue(scope, 'external', 'regular');
      const any = (query: Parameters<Scope['tx']['any']>[0]) => {
        asked.push(query.sql);
        return scope.tx.any(query);
      };
      const counting = { ...scope, tx: { any } as unknown as Scope['tx'] };
      return pageTimeline(counting, found?.profile_id ?? '', { limit: 1 });
    });
  const { items } = await readPage();
  expect(items).toHaveLength(1);
  expect(asked).toHaveLength(2);
});
