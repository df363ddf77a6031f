import { expect, test } from 'vitest';
import { z } from 'zod';
import { openDb, sql } from '../../src/base/db.ts';
import {
  COUNTED_MAX,
  makePrepareOften,
  PREPARED_AFTER,
  PREPARED_MAX,
} from '../../src/base/prepare_often.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** The name that a text is asked under; undefined while it has none. */
const asker = () => {
  const { transformQuery } = makePrepareOften();
  return (text: string): string | undefined =>
    transformQuery?.({} as never, { sql: text, values: [] }).name;
};
const askTimes = (ask: (text: string) => string | undefined, text: string, times: number) =>
  Array.from({ length: times }, () => ask(text)).at(-1);

test('a statement that comes again and again is parsed and planned once by its connection', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 1);
  const Row = z.strictObject({ sum: z.int() });
  const add = (one: number) => db.one(sql.type(Row)`select ${one}::integer + 1 as sum`);
  const Name = z.strictObject({ statement: z.string(), calls: z.int() });
  const remembered = () =>
    db.any(sql.type(Name)`
      select statement, (generic_plans + custom_plans)::integer as calls from pg_prepared_statements
      where statement like 'select $1::integer + 1%'
    `);
  for (let times = 0; times < PREPARED_AFTER; times += 1) await add(times);
  expect(await remembered()).toEqual([]);
  for (let times = 0; times < 7; times += 1) expect(await add(times)).toEqual({ sum: times + 1 });
  expect(await remembered()).toMatchObject([{ calls: 7 }]);
  await db.end();
});

test('a statement that fails is asked again as any other', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 1);
  const Row = z.strictObject({ ratio: z.int() });
  const divide = (by: number) => db.one(sql.type(Row)`select 10 / ${by}::integer as ratio`);
  for (let times = 0; times < 3 * PREPARED_AFTER; times += 1) {
    await expect(divide(0)).rejects.toThrow();
    expect(await divide(5)).toEqual({ ratio: 2 });
  }
  await db.end();
});

test('each text has a name of its own, and so many have one', () => {
  const ask = asker();
  const names = Array.from({ length: PREPARED_MAX }, (_, at) =>
    askTimes(ask, `select ${at}`, PREPARED_AFTER + 1),
  );
  expect(new Set(names).size).toBe(PREPARED_MAX);
  expect(names).not.toContain(undefined);
  expect(askTimes(ask, 'select one past it', 100 * PREPARED_AFTER)).toBeUndefined();
  expect(ask('select 0')).toBe(names[0]);
});

test('texts that come once are forgotten, the oldest first', () => {
  const ask = asker();
  const askOften = (text: string) => askTimes(ask, text, PREPARED_AFTER - 1);
  askOften('kept');
  for (let at = 0; at < COUNTED_MAX - 1; at += 1) ask(`once ${at}`);
  ask('kept');
  expect(ask('kept')).toBeDefined();

  askOften('forgotten');
  for (let at = 0; at < COUNTED_MAX; at += 1) ask(`again ${at}`);
  ask('forgotten');
  expect(ask('forgotten')).toBeUndefined();
});
