// `make project-export`, `make project-apply`: a project's templates, segments and automations as a folder of files.
import type { Scope } from '../base/db.ts';
import { applyFolder, exportFolder, readFolder, writeFolder } from '../admin/admin.ts';
import { inOneProject, OnlyLooked, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';
import { sayChanges } from './say_changes.ts';

const write = async (scope: Scope, path: string, [automation]: string[]): Promise<void> => {
  const folder = await exportFolder(scope, automation || undefined);
  const left = writeFolder(path, folder);
  console.log(`${folder.size} files in ${path}`);
  for (const file of left) console.log(`${file} is not of this project, and was left alone`);
};

const apply = async (
  scope: Scope,
  path: string,
  [sender, go, activate]: string[],
): Promise<void> => {
  const folder = readFolder(path);
  if (folder.size === 0)
    throw new Error(`There is nothing in ${path}: templates/, segments/ and automations/.`);
  const options = { sender: sender || undefined, activates: activate === 'yes' };
  sayChanges(await applyFolder(scope, folder, options));
  if (go !== 'yes') throw new OnlyLooked('Nothing was changed. Say go=yes to do it.');
};

const main = async ([project = '', verb, path = '', ...rest]: string[]): Promise<void> => {
  const projectId = readProjectId(project);
  if (path === '') throw new Error('Say which folder: folder=<path>');
  if (verb !== 'export' && verb !== 'apply') throw new Error('export or apply');
  await inOneProject(projectId, `make project-${verb}`, (scope) =>
    verb === 'export' ? write(scope, path, rest) : apply(scope, path, rest),
  );
};

await runCommand(() => main(process.argv.slice(2)));
