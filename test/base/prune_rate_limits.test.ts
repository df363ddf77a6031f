import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const countAll = async (): Promise<number> =>
  (await database.owner.query('select count(*)::int as count from base.rate_limit_counters'))
    .rows[0].count;
const prune = () => database.owner.query('select base.prune_rate_limits(now())');
const add = (count: number, ends: string) =>
  database.owner.query(
    `insert into base.rate_limit_counters (limit_name, counter_key, used, window_ends_at)
    select 'limit', gen_random_uuid()::text, 1, now() + $2::interval from generate_series(1, $1)`,
    [count, ends],
  );

test('deletes a hundred counters at a time whose window is over, and no other', async () => {
  await add(150, '-1 second');
  await add(10, '1 minute');
  await prune();
  expect(await countAll()).toBe(60);
  await prune();
  expect(await countAll()).toBe(10);
});

test('waits for no counter that somebody else holds', async () => {
  await database.owner.query('delete from base.rate_limit_counters');
  await add(3, '-1 second');
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from base.rate_limit_counters limit 1 for update');
    await prune();
    expect(await countAll()).toBe(1);
    await other.query('rollback');
  } finally {
    await other.end();
  }
  await prune();
  expect(await countAll()).toBe(0);
});
