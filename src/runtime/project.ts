// `make project name=…`: a new project, its keys and hook token as JSON on stdout.
import { asOperator } from '../base/audit.ts';
import { openDb } from '../base/db.ts';
import { runtimeUrl } from '../base/roles.ts';
import { createProject, PROJECT_NAME_CHARS_MAX } from '../projects/projects.ts';
import { findDatabase } from './find_database.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';

const main = async (name: string): Promise<void> => {
  if (name === '' || name.length > PROJECT_NAME_CHARS_MAX) {
    throw new Error(
      `Give a name of 1 to ${PROJECT_NAME_CHARS_MAX} characters: make project name="My shop"`,
    );
  }
  const url = await findDatabase();
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(url, keys), 1);
  try {
    console.log(
      JSON.stringify(await createProject(asOperator({ db, keys }, 'make project'), name), null, 2),
    );
  } finally {
    await db.end();
  }
};

// From the environment: a shell would read quotes and backticks of an argument.
await runCommand(() => main(process.env['TRUNKLINE_PROJECT_NAME'] ?? ''));
