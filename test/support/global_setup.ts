import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { Keys } from '../../src/base/keys.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { findQuickFolder } from '../../src/runtime/scratch_leftovers.ts';
import {
  databaseUrl,
  startScratchPostgres,
  waitUntilUnused,
} from '../../src/runtime/scratch_postgres.ts';
import { CITUS_DATABASE_URL } from './citus.ts';
import { DEFAULTS } from './defaults.ts';
import { TEST_MASTER_KEY } from './secrets.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
    template: string;
    /** What is made once for a run is kept here. */
    runFolder: string;
    /** Empty where there is none. */
    citusUrl: string;
  }
}

const TEMPLATE = 'trunkline_template';
const SETTINGS = {
  max_connections: 300,
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  // So that the last test can read every statement that the others made the server run.
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.max': 250_000,
};

type Server = { url: string; stop: () => Promise<void> };

const startContainer = async (image: string): Promise<Server> => {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer(image)
    .withCommand([
      'postgres',
      ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    .start();
  return { url: container.getConnectionUri(), stop: async () => void (await container.stop()) };
};

/** TEST_DATABASE_URL, else a container of TEST_POSTGRES_IMAGE, else the embedded server. */
const findServer = async (): Promise<Server> => {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { url: given, stop: async () => {} };
  const image = process.env['TEST_POSTGRES_IMAGE'];
  if (image) return startContainer(image);
  return startScratchPostgres(SETTINGS, await findQuickFolder());
};

const makeTemplate = async (serverUrl: string): Promise<void> => {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists ${TEMPLATE} with (force)`);
    await client.query(`create database ${TEMPLATE}`);
    const url = databaseUrl(serverUrl, TEMPLATE);
    await migrate({
      config: { ...DEFAULTS, ownerDatabaseUrl: url },
      keys: new Keys(Buffer.from(TEST_MASTER_KEY, 'hex')),
    });
    await client.query('create extension if not exists pg_stat_statements').catch(() => {});
    await client.query('select pg_stat_statements_reset()').catch(() => {});
  } finally {
    // The migrator ends the process, without a word, when the server goes before its own connections.
    await waitUntilUnused(client, TEMPLATE);
    await client.end();
  }
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer();
  try {
    await makeTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const runFolder = await mkdtemp(join(tmpdir(), 'trunkline-run-'));
  project.provide('runFolder', runFolder);
  project.provide('serverUrl', server.url);
  project.provide('template', TEMPLATE);
  project.provide('citusUrl', CITUS_DATABASE_URL);
  return async () => {
    await rm(runFolder, { recursive: true });
    await server.stop();
  };
}
