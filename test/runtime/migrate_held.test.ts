// Somebody holds a table that a migration changes: the migration gives up, so that nobody waits behind it for long.
import pg from 'pg';
import { expect, test } from 'vitest';
import { LOCK_TIMEOUT_MS } from '../../src/runtime/migrate.ts';
import { testDatabase } from '../support/database.ts';
import { migrateAgain } from '../support/migrate_again.ts';

const database = testDatabase();
const TEST_TIMEOUT_MS = 60_000;

/** As if the newest migration had not been run. It changes tables, and may run twice. */
const forgetNewest = async (): Promise<void> => {
  await database.owner.query(
    `delete from graphile_migrate.migrations
    where filename = (select max(filename) from graphile_migrate.migrations)`,
  );
};

const countKept = async (): Promise<number | undefined> => {
  const { rows } = await database.owner.query<{ count: number }>(
    'select count(*)::int as count from graphile_migrate.migrations',
  );
  return rows[0]?.count;
};

test(
  'a migration that a table is held from fails in time, says what to do, and passes afterwards',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const all = await countKept();
    await forgetNewest();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    // What a report does that reads for long; it would hold up a change of the table, and that everybody else.
    await holder.query('begin');
    await holder.query('lock table providers.paces in access share mode');
    const error = await migrateAgain(database).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain(`${LOCK_TIMEOUT_MS / 1_000} seconds`);
    expect(error?.message).toContain('pg_stat_activity');
    expect(error?.cause).toMatchObject({ code: '55P03' });
    expect(await countKept()).toBe(Number(all) - 1);
    await database.owner.query('select from providers.paces');
    await holder.end();
    await migrateAgain(database);
    expect(await countKept()).toBe(all);
  },
);
