// What is built while the service works: it may be cut off, and any number of processes may begin it.
import { beforeEach, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { migrateAgain } from '../support/migrate_again.ts';

const database = testDatabase();
const INDEXES = ['audit_by_actor_and_action', 'links_by_source', 'links_by_status', 'runs_inside'];

/** As if nothing of it had been built to its end. */
beforeEach(async () => {
  await database.owner.query('delete from migrations.online_migrations');
});

const listBuilt = async (): Promise<string[]> => {
  const { rows } = await database.owner.query<{ name: string }>(
    `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relname = any ($1) and indisvalid order by 1`,
    [INDEXES],
  );
  return rows.map(({ name }) => name);
};

test('what was built once is not built again', async () => {
  await migrateAgain(database);
  const ids = () =>
    database.owner.query('select oid from pg_class where relname = any ($1) order by 1', [INDEXES]);
  const { rows: built } = await ids();
  expect(built).toHaveLength(INDEXES.length);
  await migrateAgain(database);
  expect((await ids()).rows).toEqual(built);
});

test('an index whose build was cut off is built anew', async () => {
  await database.owner.query('drop index identity.links_by_source');
  await database.owner.query(
    "update pg_index set indisvalid = false where indexrelid = 'identity.links_by_status'::regclass",
  );
  expect(await listBuilt()).toEqual(INDEXES.filter((name) => !name.startsWith('links')));
  await migrateAgain(database);
  expect(await listBuilt()).toEqual(INDEXES);
});

test('several processes that migrate at once all come to an end', async () => {
  await Promise.all([1, 2, 3].map(() => migrateAgain(database)));
  expect(await listBuilt()).toEqual(INDEXES);
});
