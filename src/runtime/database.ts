// The local Postgres alone: `make db`, `make db-stop`, `make db-reset`, `make psql`, `make migrate`.
import { spawnSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Keys } from '../base/keys.ts';
import { readConfig } from '../config.ts';
import { findFacts, readHome, readMasterKeys } from './home.ts';
import type { Home } from './home.ts';
import { isAnswering } from './is_answering.ts';
import { markKept, postgresFolder, unmarkKept } from './local_database.ts';
import { dataFolder, findLocalPostgres, startLocalPostgres } from './local_postgres.ts';
import { migrate } from './migrate.ts';
import { runCommand } from './run_command.ts';

const given = process.env['DATABASE_URL'];

const start = async (home: Home): Promise<string> => {
  if (given) return given;
  await mkdir(home.folder, { recursive: true });
  const server = await startLocalPostgres({ dir: postgresFolder(home), port: home.postgresPort });
  if (server.isOurs) await markKept(home);
  return server.url;
};

/** Whoever runs on the database would lose it without a word. */
const refuseWhileRunning = async (home: Home): Promise<void> => {
  if (given) throw new Error('DATABASE_URL is set: that server is not ours to stop.');
  const facts = await findFacts(home);
  if (facts !== null && (await isAnswering(facts.base_url))) {
    throw new Error(
      `Trunkline is running at ${facts.base_url}: stop that first (Ctrl-C where it was started).`,
    );
  }
};

const stop = async (home: Home): Promise<void> => {
  await refuseWhileRunning(home);
  const server = await findLocalPostgres(postgresFolder(home));
  await server?.stop();
  await unmarkKept(home);
  console.log(server ? 'stopped; the data is kept' : 'not running');
};

const reset = async (home: Home): Promise<void> => {
  await stop(home);
  const folder = dataFolder(postgresFolder(home));
  await rm(folder, { recursive: true, force: true });
  await rm(join(home.folder, 'dev.json'), { force: true });
  console.log(`the data in ${folder} is gone; the next start makes a new database`);
};

const runMigrations = async (home: Home): Promise<void> => {
  const databaseUrl = await start(home);
  const masterKeys = await readMasterKeys();
  const config = readConfig({ ...process.env, ...masterKeys, DATABASE_URL: databaseUrl });
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys }, (step) => console.log(`  ${step}`));
};

const psql = async (home: Home): Promise<void> => {
  const { error, status } = spawnSync('psql', [await start(home)], { stdio: 'inherit' });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    throw new Error(
      'There is no psql on this machine: install the Postgres client (Debian: postgresql-client; macOS: libpq).',
    );
  }
  process.exitCode = status ?? 1;
};

const commands: Record<string, (home: Home) => Promise<void>> = {
  start: async (home) => console.log(await start(home)),
  stop,
  reset,
  migrate: runMigrations,
  psql,
};

await runCommand(async () => {
  const command = commands[process.argv[2] ?? ''];
  if (!command) throw new Error(`commands: ${Object.keys(commands).join(', ')}`);
  await command(readHome());
});
