// `make project name=…`: a new project, its keys and hook token as JSON on stdout.
import { openDb } from '../base/db.ts';
import { Keys } from '../base/keys.ts';
import { runtimeUrl } from '../base/roles.ts';
import { createProject } from '../projects/projects.ts';
import { keepSecrets, readHome } from './home.ts';
import { postgresFolder } from './local_database.ts';
import { findLocalPostgres } from './local_postgres.ts';
import { runCommand } from './run_command.ts';

const PROJECT_NAME_CHARS_MAX = 200;

const main = async (name: string): Promise<void> => {
  if (name === '' || name.length > PROJECT_NAME_CHARS_MAX) {
    throw new Error(
      `Give a name of 1 to ${PROJECT_NAME_CHARS_MAX} characters: make project name="My shop"`,
    );
  }
  const home = readHome();
  const url = process.env['DATABASE_URL'] ?? (await findLocalPostgres(postgresFolder(home)))?.url;
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

// From the environment: a shell would read quotes and backticks of an argument.
await runCommand(() => main(process.env['TRUNKLINE_PROJECT_NAME'] ?? ''));
