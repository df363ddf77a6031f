// `make project-export`, `make project-apply`: a project's templates, segments and automations as a folder of files.
import type { Scope } from '../base/db.ts';
import { readFolder, writeFolder } from './folder/files.ts';
import { applyFolder, exportFolder } from './folder/folder.ts';
import { inOneProject, OnlyLooked, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';

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

const main = async ([project = '', verb, path = '', ...rest]: string[]): Promise<void> => {
  const projectId = readProjectId(project);
  if (path === '') throw new Error('Say which folder: folder=<path>');
  if (verb !== 'export' && verb !== 'apply') throw new Error('export or apply');
  await inOneProject(projectId, (scope) =>
    verb === 'export' ? write(scope, path) : apply(scope, path, rest),
  );
};

await runCommand(() => main(process.argv.slice(2)));
