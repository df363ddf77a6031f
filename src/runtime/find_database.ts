import { readHome } from './home.ts';
import { postgresFolder } from './local_database.ts';
import { findLocalPostgres } from './local_postgres.ts';

/** DATABASE_URL, or the local Postgres where it runs. Throws what to do when there is neither. */
export const findDatabase = async (): Promise<string> => {
  const given = process.env['DATABASE_URL'];
  if (given) return given;
  const local = await findLocalPostgres(postgresFolder(readHome()));
  if (local) return local.url;
  throw new Error('No database: run "make start" or "make db" first, or set DATABASE_URL.');
};
