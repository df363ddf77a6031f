// `make project-export`, `make project-apply`: a project's templates, segments and automations as a folder of files.
import { inProject, openDb } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { runtimeUrl } from '../base/roles.ts';
import { findDatabase } from './find_database.ts';
import { readFolder, writeFolder } from './folder/files.ts';
import { applyFolder, exportFolder } from './folder/folder.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Thrown to take back what was only to be looked at. */
class OnlyLooked extends Error {}

const write = async (scope: Scope, path: string): Promise<void> => {
  const folder = await exportFolder(scope);
  const left = writeFolder(path, folder);
  console.log(`${folder.size} files in ${path}`);
  for (const file of left) console.log(`${file} is not of this project, and was left alone`);
};

const apply = async (scope: Scope, path: string, [sender, go]: string[]): Promise<void> => {
  const folder = readFolder(path);
  if (folder.size === 0)
    throw new Error(`There is nothing in ${path}: templates/, segments/ and automations/.`);
  for (const { file, changes } of await applyFolder(scope, folder, sender || undefined))
    console.log(
      [changes.length === 0 ? `${file}: nothing to change` : `${file}:`, ...changes].join('\n  '),
    );
  if (go !== 'yes') throw new OnlyLooked('Nothing was changed. Say go=yes to do it.');
};

const main = async ([projectId = '', verb, path = '', ...rest]: string[]): Promise<void> => {
  if (!UUID.test(projectId)) throw new Error('Say which project: project=<uuid>');
  if (path === '') throw new Error('Say which folder: folder=<path>');
  if (verb !== 'export' && verb !== 'apply') throw new Error('export or apply');
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), 1);
  try {
    await inProject({ db, keys }, projectId, (scope) =>
      verb === 'export' ? write(scope, path) : apply(scope, path, rest),
    );
  } catch (error) {
    if (!(error instanceof OnlyLooked)) throw error;
    console.log(error.message);
  } finally {
    await db.end();
  }
};

await runCommand(() => main(process.argv.slice(2)));
