import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { startLocalPostgres } from './local_postgres.ts';
import { newPassword } from './postgres_password.ts';
import { clearLeftovers, endWithProcess, makeFolder } from './scratch_leftovers.ts';

/** A port that nobody listens on at this moment. */
export const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

export type ScratchPostgres = {
  /** The superuser's, with a password that only this process knows. */
  url: string;
  pid: number;
  dir: string;
  stop: () => Promise<void>;
};

/** Settings for data that nobody will miss. */
const FORGETFUL = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
};

/**
 * A server over a folder of its own, gone with everything in it when stopped, and when this process
 * ends in whatever way; if it was killed, when the next one is started. `parent` is where that folder is.
 */
export const startScratchPostgres = async (
  settings: Record<string, string | number> = {},
  parent?: string,
): Promise<ScratchPostgres> => {
  await clearLeftovers();
  const { folder, dir } = await makeFolder(parent);
  const server = await startLocalPostgres({
    dir,
    port: await findFreePort(),
    password: newPassword(),
    settings: { ...FORGETFUL, ...settings },
  });
  const forget = endWithProcess({ pid: server.pid, folders: [folder, server.dir] });
  return {
    url: server.url,
    pid: server.pid,
    dir: server.dir,
    stop: async () => {
      await server.stop('immediate');
      forget();
      for (const made of [folder, server.dir]) await rm(made, { recursive: true, force: true });
    },
  };
};

/** The same server's URL with another database. */
export const databaseUrl = (url: string, database: string): string => {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
};

const UNUSED_POLL_MS = 20;
const UNUSED_TIMEOUT_MS = 10_000;

/** Waits until a database has no sessions: the migrator keeps its own a moment longer than its promise. */
export const waitUntilUnused = async (client: pg.Client, database: string): Promise<void> => {
  for (
    const giveUpAt = Date.now() + UNUSED_TIMEOUT_MS;
    Date.now() < giveUpAt;
    await wait(UNUSED_POLL_MS)
  ) {
    const { rowCount } = await client.query('select from pg_stat_activity where datname = $1', [
      database,
    ]);
    if (rowCount === 0) return;
  }
  throw new Error(`database ${database} is still in use`);
};
