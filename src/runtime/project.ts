// `make project name=…`: a new project, its keys and hook token as JSON on stdout.
import { join } from 'node:path';
import { openDb } from '../base/db.ts';
import { Keys } from '../base/keys.ts';
import { runtimeUrl } from '../base/roles.ts';
import { createProject } from '../projects/projects.ts';
import { keepSecrets, readHome } from './home.ts';
import { findLocalPostgres } from './local_postgres.ts';

const PROJECT_NAME_CHARS_MAX = 200;

const main = async (name: string): Promise<void> => {
  if (name === '' || name.length > PROJECT_NAME_CHARS_MAX) {
    throw new Error(
      `Give a name of 1 to ${PROJECT_NAME_CHARS_MAX} characters: make project name="My shop"`,
    );
  }
  const home = readHome();
  const url =
    process.env['DATABASE_URL'] ?? (await findLocalPostgres(join(home.folder, 'postgres')))?.url;
  if (!url)
    throw new Error('No database: run "make start" or "make db" first, or set DATABASE_URL.');
  const master = process.env['MASTER_KEY'] ?? (await keepSecrets(home)).master_key;
  const keys = new Keys(Buffer.from(master, 'hex'));
  const db = await openDb(runtimeUrl(url, keys), 1);
  try {
    console.log(JSON.stringify(await createProject({ db, keys }, name), null, 2));
  } finally {
    await db.end();
  }
};

try {
  await main(process.argv[2] ?? '');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
