// The local Postgres alone: `make db`, `make db-stop`, `make db-reset`, `make psql`, `make migrate`.
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Keys } from '../base/keys.ts';
import { keepSecrets, readHome } from './home.ts';
import { dataFolder, findLocalPostgres, startLocalPostgres } from './local_postgres.ts';
import { migrate } from './migrate.ts';

const home = readHome();
const folder = join(home.folder, 'postgres');
const given = process.env['DATABASE_URL'];

const start = async (): Promise<string> => {
  if (given) return given;
  const server = await startLocalPostgres({ dir: folder, port: home.postgresPort });
  return server.url;
};

const stop = async (): Promise<void> => {
  if (given) throw new Error('DATABASE_URL is set: that server is not ours to stop.');
  const server = await findLocalPostgres(folder);
  await server?.stop();
  console.log(server ? 'stopped; the data is kept' : 'not running');
};

const reset = async (): Promise<void> => {
  await stop();
  await rm(dataFolder(folder), { recursive: true, force: true });
  await rm(join(home.folder, 'dev.json'), { force: true });
  console.log('the data is gone; the next start makes a new database');
};

const runMigrations = async (): Promise<void> => {
  const databaseUrl = await start();
  const master = process.env['MASTER_KEY'] ?? (await keepSecrets(home)).master_key;
  const keys = new Keys(Buffer.from(master, 'hex'));
  await migrate({ config: { databaseUrl }, keys }, (step) => console.log(`  ${step}`));
};

const psql = async (): Promise<void> => {
  const { error, status } = spawnSync('psql', [await start()], { stdio: 'inherit' });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    throw new Error(
      'There is no psql on this machine: install the Postgres client (Debian: postgresql-client; macOS: libpq).',
    );
  }
  process.exitCode = status ?? 1;
};

const commands: Record<string, () => Promise<void>> = {
  start: async () => console.log(await start()),
  stop,
  reset,
  migrate: runMigrations,
  psql,
};

try {
  const command = commands[process.argv[2] ?? ''];
  if (!command) throw new Error(`commands: ${Object.keys(commands).join(', ')}`);
  await command();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
