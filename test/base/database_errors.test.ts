import { expect, test } from 'vitest';
import { toDatabaseRefusal } from '../../src/base/database_errors.ts';
import { inProject, openDb, sql } from '../../src/base/db.ts';
import type { Tx } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const errorIn = async (work: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
  try {
    await inProject(database.deps, newId(), ({ tx }) => work(tx));
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

test.each([
  [
    'a statement that takes too long',
    [sql.unsafe`set local statement_timeout = 50`, sql.unsafe`select pg_sleep(5)`],
  ],
  [
    'a lock that takes too long',
    [sql.unsafe`set local lock_timeout = 50`, sql.unsafe`select from projects.projects for update`],
  ],
])('%s is a timeout, and no database that cannot be reached', async (_name, statements) => {
  await database.owner.query('begin; lock table projects.projects in access exclusive mode');
  const error = await errorIn(async (tx) => {
    for (const statement of statements) await tx.query(statement);
  });
  await database.owner.query('rollback');
  const refusal = toDatabaseRefusal(error);
  expect(refusal).toMatchObject({ reason: 'database_timeout', extras: { retryAfterSeconds: 2 } });
  expect(refusal?.message).not.toMatch(/reached/);
});

test('a lost session, and a server that does not answer, cannot be reached', async () => {
  const lost = await errorIn(async (tx) => {
    await tx.query(sql.unsafe`select pg_terminate_backend(pg_backend_pid())`);
  });
  expect(toDatabaseRefusal(lost)).toMatchObject({ reason: 'unavailable' });
  const gone = await openDb('postgres://no_user@127.0.0.1:1/none')
    .then((db) => db.query(sql.unsafe`select 1`))
    .catch((error: unknown) => error);
  expect(toDatabaseRefusal(gone)).toMatchObject({ reason: 'unavailable' });
});

test('a wrong statement is neither', async () => {
  const wrong = await errorIn((tx) => tx.query(sql.unsafe`select 1 / 0`));
  expect(toDatabaseRefusal(wrong)).toBeNull();
  expect(toDatabaseRefusal('no error')).toBeNull();
});
