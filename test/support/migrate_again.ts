import type { Deps } from '../../src/base/deps.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import type { TestDatabase } from './database.ts';
import { until } from './until.ts';

/** Migrates a test's database once more. The migrator's sessions outlive it: cut off, they end the process. */
export const migrateAgain = async (
  { owner, deps }: TestDatabase,
  { config, keys }: Pick<Deps, 'config' | 'keys'> = deps,
): Promise<void> => {
  await migrate({ config, keys });
  await until('the migrator has left', async () => {
    const { rowCount } = await owner.query(
      `select from pg_stat_activity
      where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
      and backend_type = 'client backend'`,
    );
    return rowCount === 0;
  });
};
