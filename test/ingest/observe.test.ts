// What the service itself saw comes onto timelines as far back as there are months, and whatever is older nowhere.
import { afterEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { observe } from '../../src/ingest/observe.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const DAY_MS = 86_400_000;

const now = new Date();
const monthStart = (monthsAgo: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1));

/** Leaves so many months of the past. */
const keepOnly = (monthsBack: number) =>
  database.owner.query(
    `do $$
    declare v_name text;
    begin
      for v_name in select name from ingest.expired_partitions(before => '${monthStart(monthsBack).toISOString()}')
      loop execute format('drop table ingest.%I', v_name); end loop;
    end $$`,
  );
afterEach(() => database.owner.query('select ingest.keep_partitions()'));

const observeAt = async (...times: Date[]) => {
  const projectId = newId();
  const seen = times.map((occurredAt) => ({
    name: 'email_delivered' as const,
    externalId: 'ann',
    anonymousId: null,
    properties: {},
    occurredAt,
  }));
  const count = await inProject(database.deps, projectId, (scope) => observe(scope, seen));
  const { rows } = await database.owner.query<{ occurred_at: Date }>(
    'select occurred_at from ingest.events where project_id = $1 order by 1',
    [projectId],
  );
  expect(rows).toHaveLength(count);
  return rows.map(({ occurred_at }) => occurred_at);
};

test.each([24, 3])(
  'of %d months all is kept, to the millisecond, and nothing older',
  async (months) => {
    await keepOnly(months);
    const start = monthStart(months);
    const before = new Date(start.getTime() - 1);
    expect(await observeAt(before)).toEqual([]);
    expect(await observeAt(now, before, start)).toEqual([start, now]);
  },
);

test('of what happened lately the months are not asked', async () => {
  const [lately, before] = [29, 31].map((days) => new Date(now.getTime() - days * DAY_MS));
  const name = 'ingest.expired_partitions';
  await database.owner.query(`alter function ${name} rename to elsewhere`);
  try {
    expect(await observeAt(now, lately as Date)).toEqual([lately, now]);
    await expect(observeAt(before as Date)).rejects.toThrow();
  } finally {
    await database.owner.query('alter function ingest.elsewhere rename to expired_partitions');
  }
});
