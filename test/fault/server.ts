import { rm } from 'node:fs/promises';
import { startLocalPostgres } from '../../src/runtime/local_postgres.ts';
import type { LocalPostgres } from '../../src/runtime/local_postgres.ts';
import { endWithProcess, makeFolder } from '../../src/runtime/scratch_leftovers.ts';
import { findFreePort } from '../../src/runtime/scratch_postgres.ts';
import { DURABLE } from '../bench/installation.ts';

export type Server = {
  url: string;
  /** Ends it, at once as a crash does or in order, and starts it again over the same folder and port. */
  restart: (mode: 'fast' | 'immediate', downMs: number) => Promise<void>;
  stop: () => Promise<void>;
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A Postgres of one's own that keeps what it says it keeps, and can be crashed. */
export const openServer = async (): Promise<Server> => {
  const { folder, dir } = await makeFolder();
  const options = {
    dir,
    port: await findFreePort(),
    settings: { ...DURABLE, min_wal_size: '80MB' },
  };
  let forget = () => {};
  const launch = async (): Promise<LocalPostgres> => {
    const server = await startLocalPostgres(options);
    forget = endWithProcess({ pid: server.pid, folders: [folder, server.dir] });
    return server;
  };
  let server = await launch();
  return {
    url: server.url,
    restart: async (mode, downMs) => {
      await server.stop(mode);
      forget();
      await later(downMs);
      server = await launch();
    },
    stop: async () => {
      await server.stop('immediate');
      forget();
      for (const made of [folder, server.dir]) await rm(made, { recursive: true, force: true });
    },
  };
};
