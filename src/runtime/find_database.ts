import { withoutCredentials } from '../config/database_url.ts';
import { readSetting } from './read_setting.ts';
import { keepSecrets, postgresFolder, readHome } from './home.ts';
import { findLocalPostgres } from './local_postgres.ts';
import { superuserUrl } from './postgres_password.ts';

/** Returns the owner's URL of the user's own database, or null where the installation brings its Postgres. */
export const findGivenDatabase = (): string | null =>
  readSetting('OWNER_DATABASE_URL') ?? readSetting('DATABASE_URL') ?? null;

const findLocal = async () => {
  const local = await findLocalPostgres(postgresFolder(readHome()));
  if (local) return local;
  throw new Error('No database: run "make start" or "make db" first, or set DATABASE_URL.');
};

/**
 * Returns the database's URL without credentials, for commands that work as one of the service's roles. Throws what
 * to do when there is neither DATABASE_URL nor a local Postgres that runs.
 */
export const findDatabase = async (): Promise<string> => {
  const given = readSetting('DATABASE_URL') ?? findGivenDatabase();
  return withoutCredentials(given ?? superuserUrl((await findLocal()).port, ''));
};

/** Returns the same database's URL with the owner's credentials, for commands that need the owner's rights. */
export const findOwnerDatabase = async (): Promise<string> => {
  const given = findGivenDatabase();
  if (given !== null) return given;
  const { port } = await findLocal();
  return superuserUrl(port, (await keepSecrets(readHome())).postgres_password);
};
