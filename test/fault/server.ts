import { rm } from 'node:fs/promises';
import { startLocalPostgres } from '../../src/runtime/local_postgres.ts';
import type { LocalPostgres } from '../../src/runtime/local_postgres.ts';
import { newPassword } from '../../src/runtime/postgres_password.ts';
import { endWithProcess, makeFolder } from '../../src/runtime/scratch_leftovers.ts';
import { findFreePort } from '../../src/runtime/scratch_postgres.ts';
import { DURABLE } from '../bench/installation.ts';

export type Server = {
  /** Where it is by now. */
  readonly url: string;
  /** Ends it, at once as a crash does or in order, and starts it again over the same folder, at this port if any. */
  restart: (mode: 'fast' | 'immediate', downMs: number, port?: number) => Promise<void>;
  stop: () => Promise<void>;
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A Postgres of one's own that keeps what it says it keeps, and can be crashed. */
export const openServer = async (): Promise<Server> => {
  const { folder, dir } = await makeFolder();
  const firstPort = await findFreePort();
  const options = {
    dir,
    password: newPassword(),
    settings: { ...DURABLE, min_wal_size: '80MB' },
  };
  let forget = () => {};
  const launch = async (port: number): Promise<LocalPostgres> => {
    const server = await startLocalPostgres({ ...options, port });
    forget = endWithProcess({ pid: server.pid, folders: [folder, server.dir] });
    return server;
  };
  let server = await launch(firstPort);
  return {
    get url() {
      return server.url;
    },
    restart: async (mode, downMs, port = Number(new URL(server.url).port)) => {
      await server.stop(mode);
      forget();
      await later(downMs);
      server = await launch(port);
    },
    stop: async () => {
      await server.stop('immediate');
      forget();
      for (const made of [folder, server.dir]) await rm(made, { recursive: true, force: true });
    },
  };
};
