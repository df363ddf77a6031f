import { expect, test } from 'vitest';
import { refusalOf } from '../support/refusal_of_sql.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const declared = async () => {
  const { rows } = await database.owner.query<{ name: string; said: string | null }>(
    `select attname as name, col_description(attrelid, attnum) as said from pg_attribute
    where attrelid = 'projects."odd Name"'::regclass and attnum > 0 order by attnum`,
  );
  return Object.fromEntries(rows.map(({ name, said }) => [name, said]));
};

test('each column says what it was declared as; one that was left out says nothing; the last word counts', async () => {
  await database.owner.query(
    `create table projects."odd Name" (id uuid, "Odd" text, hash bytea, forgotten text)`,
  );
  const declare = (person: string, others: string) =>
    database.owner.query(`select base.declare_columns('projects."odd Name"', $1, '{hash}', $2)`, [
      person,
      others,
    ]);
  await declare('{id}', '{Odd}');
  await declare('{Odd}', '{id}');
  expect(await declared()).toEqual({
    id: 'Of no person',
    Odd: 'Of a person',
    hash: 'Keyed: cannot be read back',
    forgotten: null,
  });
});

test('a column that there is not is a mistake', async () => {
  const said = await refusalOf(
    database.owner,
    `select base.declare_columns('projects.projects', '{nobody}', '{}', '{}')`,
  );
  expect(said).toMatch(/"nobody" .*does not exist/);
});
