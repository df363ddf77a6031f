import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Logger as MigrateLogger, migrate as migrateSchema } from 'graphile-migrate';
import { Logger as WorkerLogger, runMigrations as migrateQueue } from 'graphile-worker';
import { runner } from 'node-pg-migrate';
import type { MigrationBuilder } from 'node-pg-migrate';
import pg from 'pg';
import { isLockTimeout } from '../base/database_errors.ts';
import type { Keys } from '../base/keys.ts';
import { passwordOf, ROLES, urlFor } from '../base/roles.ts';
import type { Config } from '../config.ts';
import { keepMonths } from '../ingest/ingest.ts';
import { digestMessageIds } from './digest_message_ids.ts';
import { toScramVerifier } from './scram.ts';

const DB_FOLDER = join(import.meta.dirname, '..', '..', 'db');
const LOCK = 'trunkline/migrate';
const LOCK_PAUSE_MS = 100;
/** How long a step waits for a lock: whoever asks for the same table waits behind it. */
export const LOCK_TIMEOUT_MS = 10_000;

type Say = (step: string) => void;

type Actions = { up: (pgm: MigrationBuilder) => void | Promise<void>; down: false };

/** Migrations in TypeScript are loaded by Node itself. */
const loadNatively = (files: string[]) =>
  Promise.all(
    files.map(async (file) => ({
      id: file,
      filePaths: [file],
      actions: (await import(pathToFileURL(file).href)) as Actions,
    })),
  );

/** Runs one folder of node-pg-migrate: what is not a fast transaction of the schema. */
const runFolder = async (url: string, folder: 'bootstrap' | 'online'): Promise<void> => {
  const dir = join(DB_FOLDER, folder);
  if (!existsSync(dir) || !readdirSync(dir).some((file) => file.endsWith('.ts'))) return;
  await runner({
    databaseUrl: url,
    dir,
    migrationsTable: `${folder}_migrations`,
    migrationsSchema: 'migrations',
    createMigrationsSchema: true,
    direction: 'up',
    singleTransaction: false,
    advisoryLockMode: 'wait',
    migrationLoaderStrategies: [{ extensions: ['.ts'], loader: loadNatively }],
    log: () => {},
  });
};

/** The same database, for connections whose statements wait no longer than that for a lock. */
const impatiently = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  url.searchParams.set('lock_timeout', String(LOCK_TIMEOUT_MS));
  return url.href;
};

/**
 * What is built while the service works, on a database that has the schema. It waits for old transactions, however
 * long they take, and nobody waits behind it who reads or writes: so it has no time-out.
 */
export const runOnline = (url: string): Promise<void> => runFolder(url, 'online');

/** No statement of either role takes longer, and none waits longer within a transaction, whoever forgot to say so. */
export const ROLE_TIMEOUT_SECONDS = 60;
const ROLE_TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** Lets the two roles log in with the passwords that follow from MASTER_KEY, and bounds what they ask. */
const prepareRoles = async (client: pg.Client, keys: Keys): Promise<void> => {
  for (const role of ROLES) {
    const password = pg.escapeLiteral(toScramVerifier(passwordOf(keys, role)));
    const name = pg.escapeIdentifier(role);
    await client.query(`alter role ${name} with login password ${password}`);
    for (const timeout of ROLE_TIMEOUTS)
      await client.query(`alter role ${name} set ${timeout} = '${ROLE_TIMEOUT_SECONDS}s'`);
  }
};

type Parts = { config: Pick<Config, 'ownerDatabaseUrl'>; keys: Keys };
type PartsWithMonths = Parts & { config: Pick<Config, 'retentionMonths'> };

const onThisDatabase = (statement: string): string =>
  `do $$ begin execute format('${statement}', current_database()); end $$`;

/** What the schema's migrations build on: the roles and the queue. */
const prepareWith = async (client: pg.Client, { config, keys }: Parts, say: Say): Promise<void> => {
  say('bootstrap: roles');
  await runFolder(impatiently(config.ownerDatabaseUrl), 'bootstrap');
  await checkMasterKey(client, keys);
  await prepareRoles(client, keys);
  await client.query(onThisDatabase(`grant connect on database %I to ${ROLES.join(', ')}`));
  say('queue');
  // The queue makes its own schema, and may make nothing else afterwards.
  await client.query(onThisDatabase('grant create on database %I to trunkline_queue'));
  await migrateQueue({
    connectionString: impatiently(urlFor(config.ownerDatabaseUrl, keys, 'trunkline_queue')),
    logger: new WorkerLogger(() => () => {}),
  });
  await client.query(onThisDatabase('revoke create on database %I from trunkline_queue'));
};

const runSteps = async (client: pg.Client, parts: PartsWithMonths, say: Say): Promise<void> => {
  const { config } = parts;
  await prepareWith(client, parts, say);
  say('schema');
  await migrateSchema({
    connectionString: impatiently(config.ownerDatabaseUrl),
    migrationsFolder: DB_FOLDER,
    logger: new MigrateLogger(() => () => {}),
  });
  await digestMessageIds(client, parts.keys);
  say('online');
  await runOnline(config.ownerDatabaseUrl);
  say('months of the timeline');
  await keepMonths(client, config);
};

const connectAsOwner = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, application_name: 'trunkline-migrate' });
  try {
    await client.connect();
    return client;
  } catch (error) {
    const { hostname, port, pathname } = new URL(url);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The database (${hostname}:${port || 5432}${pathname}) cannot be reached: ${why}`,
      {
        cause: error,
      },
    );
  }
};

/** What is sealed under one key opens under no other: better said now than when the first mail is to be sent. */
const checkMasterKey = async (client: pg.Client, keys: Keys): Promise<void> => {
  const fingerprint = keys.hash('master-key-check', 'trunkline').toString('hex');
  await client.query(
    'create table if not exists migrations.master_key (fingerprint text primary key)',
  );
  const { rows } = await client.query<{ fingerprint: string }>(
    `insert into migrations.master_key (fingerprint)
    select $1 where not exists (select from migrations.master_key)
    returning fingerprint`,
    [fingerprint],
  );
  if (rows.length > 0) return;
  const { rowCount } = await client.query(
    'select from migrations.master_key where fingerprint = $1',
    [fingerprint],
  );
  if (rowCount === 0) {
    throw new Error(
      'This database was made with another MASTER_KEY, and what is sealed in it opens under that one only. Put that ' +
        'key back (locally it is in .trunkline/secrets.json), or start anew with an empty database: make db-reset.',
    );
  }
};

/** Asked for again and again: who waits inside of a statement is waited for by an index that is built meanwhile. */
const takeLock = async (client: pg.Client): Promise<void> => {
  for (;;) {
    const { rows } = await client.query<{ is_taken: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_taken',
      [LOCK],
    );
    if (rows[0]?.is_taken) return;
    await wait(LOCK_PAUSE_MS);
  }
};

const tookTooLong = (cause: Error): Error =>
  new Error(
    `Somebody held what a migration has to change for longer than ${LOCK_TIMEOUT_MS / 1_000} seconds. It was taken ` +
      'back whole, so that nobody waits behind it; the service goes on as before. Run it again: who holds a ' +
      'table for long is in pg_stat_activity, by xact_start.',
    { cause },
  );

const withLock = async (
  parts: Parts,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> => {
  const client = await connectAsOwner(parts.config.ownerDatabaseUrl);
  try {
    await takeLock(client);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await work(client);
  } catch (error) {
    throw isLockTimeout(error) ? tookTooLong(error) : error;
  } finally {
    await client.end();
  }
};

/**
 * Brings a database to the schema of this code: roles, queue, schema, online steps, months, in this order.
 * Any number of processes may call it at once: one works, the others wait and find nothing to do.
 */
export const migrate = (parts: PartsWithMonths, say: Say = () => {}): Promise<void> =>
  withLock(parts, (client) => runSteps(client, parts, say));

/** Only what comes before the schema, for an empty database that migrations are tried on. */
export const prepare = (parts: Parts): Promise<void> =>
  withLock(parts, (client) => prepareWith(client, parts, () => {}));
