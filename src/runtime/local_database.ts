import { rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findGivenDatabase } from './find_database.ts';
import { postgresFolder } from './home.ts';
import type { Home } from './home.ts';
import { findLocalPostgres, startLocalPostgres } from './local_postgres.ts';

/** Says that `make db` started the server, so that it outlives a `make start`. */
const keptFile = ({ folder }: Home): string => join(folder, 'postgres-kept');

export const markKept = (home: Home): Promise<void> => writeFile(keptFile(home), '');
export const unmarkKept = (home: Home): Promise<void> => rm(keptFile(home), { force: true });

export type LocalDatabase = {
  /** The owner's, with its credentials. */
  ownerUrl: string;
  /** Whether it is the Postgres that the installation brings. */
  isLocal: boolean;
  /** Starts the server again where it was lost; one call after the other. */
  revive: () => Promise<void>;
  close: () => Promise<void>;
};

type Say = (line: string) => void;

/** The database that the settings name, or a Postgres of our own. Takes over one that an earlier start left behind. */
export const openDatabase = async (
  home: Home,
  password: string,
  say: Say,
): Promise<LocalDatabase> => {
  const given = findGivenDatabase();
  if (given !== null)
    return { ownerUrl: given, isLocal: false, revive: async () => {}, close: async () => {} };

  const dir = postgresFolder(home);
  const open = () => startLocalPostgres({ dir, port: home.postgresPort, password, say });
  const server = await open();
  const close = async (): Promise<void> => {
    if (existsSync(keptFile(home))) {
      say('postgres goes on running, as "make db" started it; "make db-stop" stops it');
      return;
    }
    const running = await findLocalPostgres(dir);
    await running?.stop();
  };
  let revived = Promise.resolve();
  const revive = async (): Promise<void> => {
    if (await findLocalPostgres(dir)) return;
    say('postgres is gone; starting it again');
    await open();
  };
  return {
    ownerUrl: server.url,
    isLocal: true,
    revive: () => (revived = revived.then(revive, revive)),
    close,
  };
};
