import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { startLocalPostgres } from './local_postgres.ts';

/** A port that nobody listens on at this moment. */
export const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

export type ScratchPostgres = { url: string; stop: () => Promise<void> };

/** Settings for data that nobody will miss. */
const FORGETFUL = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
};

/** A server over a folder of its own, gone with everything in it when stopped. */
export const startScratchPostgres = async (
  settings: Record<string, string | number> = {},
): Promise<ScratchPostgres> => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-'));
  await chmod(folder, 0o755); // The server may run under another account.
  const server = await startLocalPostgres({
    dir: join(folder, `data-${randomBytes(4).toString('hex')}`),
    port: await findFreePort(),
    settings: { ...FORGETFUL, ...settings },
  });
  return {
    url: server.url,
    stop: async () => {
      await server.stop('immediate');
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
