import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from './database.ts';
import { listFunctionStatements } from './recorded.ts';
import { findAll } from './sql_tree.ts';

const database = testDatabase();

beforeAll(() =>
  database.owner.query(`
    create schema trial;
    create function trial.says(x integer, y integer[]) returns boolean language plpgsql as $$
    declare
      v_found integer;
    begin
      if x = any (select 1 from identity.identities) then
        v_found := (select 2 from identity.links);
      end if;
      y[x] := (select 3 from profiles.traits where x = 1);
      return x = any (select 4 from profiles.profiles);
    end;
    $$`),
);
afterAll(() => database.owner.query('drop schema trial cascade'));

test('a condition that begins with a comparison is read whole, an assignment without its target', async () => {
  const statements = (await listFunctionStatements(database.owner))
    .filter(({ name }) => name === 'trial.says')
    .map(({ statement }) => statement);
  const anys = statements.filter((one) =>
    findAll(one, 'SubLink').some(({ subLinkType }) => subLinkType === 'ANY_SUBLINK'),
  );
  expect(anys).toHaveLength(2);
  const tables = statements.flatMap((one) =>
    findAll(one, 'RangeVar').map(({ relname }) => relname),
  );
  expect(tables).toEqual(['identities', 'links', 'traits', 'profiles']);
  // The target of an assignment is no part of what is asked.
  expect(findAll(statements, 'ColumnRef').map(({ fields }) => JSON.stringify(fields))).toHaveLength(
    3,
  );
});
