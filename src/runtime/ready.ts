// `make automation-ready`: switches a ready automation on, which is a folder like any other.
import { join } from 'node:path';
import { applyFolder, listReadyKeys, READY_FOLDER, readFolder } from '../admin/admin.ts';
import { inOneProject, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';
import { sayChanges } from './say_changes.ts';
import { readSite } from './site.ts';

const main = async ([project = '', name = '', sender = '']: string[]): Promise<void> => {
  const projectId = readProjectId(project);
  const names = listReadyKeys();
  if (!names.includes(name)) throw new Error(`ready= is one of ${names.join(', ')}`);
  const folder = readFolder(join(READY_FOLDER, name));
  const options = { sender: sender || undefined, activates: true, site: readSite() };
  await inOneProject(projectId, 'make automation-ready', async (scope) =>
    sayChanges(await applyFolder(scope, folder, options)),
  );
};

await runCommand(() => main(process.argv.slice(2)));
