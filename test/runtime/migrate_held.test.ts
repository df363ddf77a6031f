// A session holds a table that a migration changes: the migration gives up, so that no other session waits for long.
import pg from 'pg';
import { expect, test } from 'vitest';
import { LOCK_TIMEOUT_MS } from '../../src/runtime/migrate.ts';
import { testDatabase } from '../support/database.ts';
import { migrateAgain } from '../support/migrate_again.ts';

const database = testDatabase();
const TEST_TIMEOUT_MS = 60_000;

/** A migration that changes a table which was there, and may run twice, as may those after it. */
const CHANGES_SENDS = '000080-retention_of_sends_and_content.sql';

/** As if that and what came after it had not been run; answers how many those are. */
const forgetNewest = async (): Promise<number> => {
  const { rowCount } = await database.owner.query(
    'delete from graphile_migrate.migrations where filename >= $1',
    [CHANGES_SENDS],
  );
  return rowCount ?? 0;
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
    const forgotten = await forgetNewest();
    expect(forgotten).toBeGreaterThan(0);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    // As a long report does: it delays a change of the table, which then delays every other session.
    await holder.query('begin');
    await holder.query('lock table delivery.sends in access share mode');
    const error = await migrateAgain(database).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain(`${LOCK_TIMEOUT_MS / 1_000} seconds`);
    expect(error?.message).toContain('pg_stat_activity');
    expect(error?.cause).toMatchObject({ code: '55P03' });
    expect(await countKept()).toBe(Number(all) - forgotten);
    await database.owner.query('select from delivery.sends');
    await holder.end();
    await migrateAgain(database);
    expect(await countKept()).toBe(all);
  },
);
