import { rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';
import { findLocalPostgres, startLocalPostgres } from './local_postgres.ts';

/** Where the local Postgres keeps its data, or the place that stands for it. */
export const postgresFolder = ({ folder }: Home): string => join(folder, 'postgres');

/** Says that `make db` started the server, so that it outlives a `make start`. */
const keptFile = ({ folder }: Home): string => join(folder, 'postgres-kept');

export const markKept = (home: Home): Promise<void> => writeFile(keptFile(home), '');
export const unmarkKept = (home: Home): Promise<void> => rm(keptFile(home), { force: true });

export type LocalDatabase = {
  url: string;
  /** Starts the server again where it was lost; one call after the other. */
  revive: () => Promise<void>;
  close: () => Promise<void>;
};

/** DATABASE_URL, or a Postgres of our own. One that an earlier start left behind is taken over. */
export const openDatabase = async (
  home: Home,
  say: (line: string) => void,
): Promise<LocalDatabase> => {
  const given = process.env['DATABASE_URL'];
  if (given) return { url: given, revive: async () => {}, close: async () => {} };

  const open = () => startLocalPostgres({ dir: postgresFolder(home), port: home.postgresPort });
  const server = await open();
  const close = async (): Promise<void> => {
    if (existsSync(keptFile(home))) {
      say('postgres goes on running, as "make db" started it; "make db-stop" stops it');
      return;
    }
    const running = await findLocalPostgres(postgresFolder(home));
    await running?.stop();
  };
  let revived = Promise.resolve();
  const revive = async (): Promise<void> => {
    if (await findLocalPostgres(postgresFolder(home))) return;
    say('postgres is gone; starting it again');
    await open();
  };
  return { url: server.url, revive: () => (revived = revived.then(revive, revive)), close };
};
