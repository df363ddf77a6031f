// `make project-export`, `make project-apply`: a project's templates, segments and automations as a folder of files.
import { readFolder, renewVersions, sayNothingIn, writeFolder } from '../admin/folder/disk.ts';
import type { Folder } from '../admin/folder/disk.ts';
import { applyFolder, exportFolder } from '../admin/folder/folder.ts';
import type { Told } from '../admin/folder/folder.ts';
import type { Scope } from '../base/db.ts';
import { inOneProject, OnlyLooked, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';
import { sayChanges } from './say_changes.ts';
import { readSite } from './site.ts';

const write = async (scope: Scope, path: string, [automation]: string[]): Promise<void> => {
  const folder = await exportFolder(scope, automation || undefined);
  const left = writeFolder(path, folder);
  console.log(`${folder.size} files in ${path}`);
  for (const file of left) console.log(`${file} is not of this project, and was left alone`);
};

const read = (path: string): Folder => {
  const folder = readFolder(path);
  if (folder.size > 0) return folder;
  throw new Error(sayNothingIn(path));
};

const apply = async (
  scope: Scope,
  folder: Folder,
  [sender, go, activate]: string[],
): Promise<Told> => {
  const options = { sender: sender || undefined, activates: activate === 'yes', site: readSite() };
  const told = await applyFolder(scope, folder, options);
  sayChanges(told);
  if (go !== 'yes') throw new OnlyLooked('Nothing was changed. Say go=yes to do it.');
  return told;
};

/** Once it is committed, files say the versions that there are: the next change rests on this one. */
const renew = (path: string, folder: Folder, told: Told): void => {
  const { renewed, left } = renewVersions(path, folder, told);
  if (renewed.length > 0) console.log(`${renewed.length} files given the new version`);
  for (const file of left) console.log(`${file} still says its old version: export it again`);
};

const main = async ([project = '', verb, path = '', ...rest]: string[]): Promise<void> => {
  const projectId = readProjectId(project);
  if (path === '') throw new Error('Say which folder: folder=<path>');
  if (verb !== 'export' && verb !== 'apply') throw new Error('export or apply');
  const command = `make project-${verb}`;
  if (verb === 'export') {
    await inOneProject(projectId, command, (scope) => write(scope, path, rest));
    return;
  }
  const folder = read(path);
  const told = await inOneProject(projectId, command, (scope) => apply(scope, folder, rest));
  if (told) renew(path, folder, told);
};

await runCommand(() => main(process.argv.slice(2)));
