import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { Keys } from '../../src/base/keys.ts';
import { openLog } from '../../src/base/log.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { readConfig } from '../../src/config.ts';
import { withoutCredentials } from '../../src/config/database_url.ts';
import { databaseUrl } from '../../src/runtime/scratch_postgres.ts';
import { TEST_MASTER_KEY } from './secrets.ts';

export type TestDatabase = {
  /** The owner's URL, with the owner's password. */
  url: string;
  /** A connection of the owner, to look at what the service did. */
  owner: pg.Client;
  /** What the rooms are given: the runtime role's pool, as in production. */
  deps: Deps;
  /** The environment for a process of the service over this database: no credentials of the owner. */
  env: Record<string, string>;
  /** The same with the owner's URL, for operator commands. */
  ownerEnv: Record<string, string>;
};

const admin = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: inject('serverUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/**
 * A private copy of the migrated database for one test file: copying a template takes tens of
 * milliseconds where migrating takes a second, so every file has a real Postgres of its own.
 */
export const testDatabase = (): TestDatabase => {
  const database = {} as TestDatabase;
  const name = `test_${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    await admin(`create database ${name} template ${inject('template')} strategy file_copy`);
    database.url = databaseUrl(inject('serverUrl'), name);
    database.env = {
      DATABASE_URL: withoutCredentials(database.url),
      MASTER_KEY: TEST_MASTER_KEY,
      EGRESS_ALLOW_NETWORKS: '127.0.0.0/8',
      // Nobody listens there: tests ask no name server but their own.
      DNS_SERVERS: '127.0.0.1:9',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'test',
      PORT: '0',
      // All requests of a test come from one address.
      UNIT_LIMIT_ADDRESS: '500',
    };
    database.ownerEnv = { ...database.env, OWNER_DATABASE_URL: database.url };
    const config = readConfig(database.ownerEnv);
    const keys = new Keys(config.masterKey, config.outerKeys);
    const db = await openDb(runtimeUrl(config.databaseUrl, keys));
    database.deps = { config, keys, db, log: openLog('silent'), resources: new Resources() };
    database.owner = new pg.Client({ connectionString: database.url });
    database.owner.on('error', () => {});
    await database.owner.connect();
    // A copy is another database: nothing would be sent from it.
    await database.owner.query('update base.sending set home = base.sending_home(true)');
  });

  afterAll(async () => {
    await database.deps.resources.close();
    await database.deps.db.end();
    await database.owner.end();
    await admin(`drop database ${name} with (force)`);
  });
  return database;
};

/** For jobs that nobody stops. */
export const NEVER = new AbortController().signal;
