// The local Postgres alone: `make db`, `make db-stop`, `make db-reset`, `make psql`, `make migrate`.
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Keys } from '../base/keys.ts';
import { readConfig } from '../config.ts';
import { splitPassword } from '../config/database_url.ts';
import { withoutFiles } from '../config/setting_files.ts';
import { findGivenDatabase } from './find_database.ts';
import { findFacts, keepSecrets, postgresFolder, readHome, readMasterKeys } from './home.ts';
import type { Home } from './home.ts';
import { isAnswering } from './is_answering.ts';
import { markKept, unmarkKept } from './local_database.ts';
import { dataFolder, findLocalPostgres, startLocalPostgres } from './local_postgres.ts';
import { migrate } from './migrate.ts';
import { runCommand } from './run_command.ts';

const given = findGivenDatabase();

/** Returns the owner's URL, with its password. */
const start = async (home: Home): Promise<string> => {
  if (given !== null) return given;
  const { postgres_password: password } = await keepSecrets(home);
  const server = await startLocalPostgres({
    dir: postgresFolder(home),
    port: home.postgresPort,
    password,
    say: (line) => console.error(line),
  });
  if (server.isOurs) await markKept(home);
  return server.url;
};

/** Whoever runs on the database would lose it without a word. */
const refuseWhileRunning = async (home: Home): Promise<void> => {
  if (given !== null) throw new Error('DATABASE_URL is set: that server is not ours to stop.');
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
  const ownerUrl = await start(home);
  const config = readConfig({
    ...withoutFiles(process.env),
    ...(await readMasterKeys()),
    DATABASE_URL: ownerUrl,
    OWNER_DATABASE_URL: ownerUrl,
  });
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys }, (step) => console.log(`  ${step}`));
};

const psql = async (home: Home): Promise<void> => {
  const { url, password } = splitPassword(await start(home));
  const env = { ...process.env, ...(password === '' ? {} : { PGPASSWORD: password }) };
  const { error, status } = spawnSync('psql', [url], { stdio: 'inherit', env });
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
