import { execFileSync } from 'node:child_process';
import { openDb } from '../../src/base/db.ts';
import { Keys } from '../../src/base/keys.ts';
import { openLog } from '../../src/base/log.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import type { Deps } from '../../src/base/deps.ts';
import { readConfig } from '../../src/config.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import { startService } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

/** Everything is on disk when it is said to be, as in production. */
export const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  // A log as a busy server has it: room for some minutes, in files that are there already.
  min_wal_size: '1GB',
  max_wal_size: '4GB',
};
const LOG_FILES = 64;

/** Makes the log's files. A new server makes one each 16 MiB, and everybody waits some 70 ms for it. */
const makeLogFiles = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    for (let at = 0; at < LOG_FILES; at += 1) {
      await client.query(`select pg_logical_emit_message(false, 'bench', 'next file')`);
      await client.query('select pg_switch_wal()');
    }
    await client.query('checkpoint');
  });

export type Installation = {
  url: string;
  deps: Deps;
  start: (
    role: 'api' | 'worker' | 'all',
    env?: Record<string, string>,
    onLine?: (line: string) => void,
  ) => Promise<Service>;
  close: () => Promise<void>;
};

/** A migrated database on a server of its own; processes are started over it with production's settings. */
export const openInstallation = async (
  settings: Record<string, string> = {},
): Promise<Installation> => {
  const server = await startScratchPostgres({ ...DURABLE, ...settings });
  await makeLogFiles(server.url);
  const env = {
    DATABASE_URL: server.url,
    MASTER_KEY: TEST_MASTER_KEY,
    PORT: '0',
    LOG_LEVEL: 'info',
    EGRESS_ALLOW_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_SERVER: '0',
    RATE_LIMIT_PUBLISHABLE: '0',
    RATE_LIMIT_ADDRESS: '0',
    RATE_LIMIT_UNSUBSCRIBE: '0',
    RATE_LIMIT_UNKNOWN_KEYS: '0',
    UNIT_LIMIT_SERVER: '0',
    UNIT_LIMIT_PUBLISHABLE: '0',
    UNIT_LIMIT_ADDRESS: '0',
    UNIT_LIMIT_ANONYMOUS: '0',
  };
  const config = readConfig(env);
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys });
  const db = await openDb(runtimeUrl(server.url, keys), 2);
  const deps = { config, keys, db, log: openLog('silent'), resources: new Resources() };
  const services: Service[] = [];
  return {
    url: server.url,
    deps,
    start: async (role, more = {}, onLine = () => {}) => {
      const service = await startService({ env: { ...env, ROLE: role, ...more }, onLine });
      services.push(service);
      return service;
    },
    close: async () => {
      for (const service of services) await service.stop();
      await db.end();
      await server.stop();
    },
  };
};

/** Starts every side of a comparison from the same point: nothing left to write from before. */
export const checkpoint = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    await client.query('checkpoint');
  });

const KIBIBYTES_PER_MEBIBYTE = 1024;

/** Resident memory of a process. */
export const residentMiB = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / KIBIBYTES_PER_MEBIBYTE;
