// `make automation-ready`: switches a ready automation on, which is a folder like any other.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFolder } from './folder/files.ts';
import { applyFolder } from './folder/folder.ts';
import { inOneProject, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';
import { sayChanges } from './say_changes.ts';

const READY = join(import.meta.dirname, 'ready');

const main = async ([project = '', name = '', sender = '']: string[]): Promise<void> => {
  const projectId = readProjectId(project);
  const names = readdirSync(READY).toSorted();
  if (!names.includes(name)) throw new Error(`ready= is one of ${names.join(', ')}`);
  const folder = readFolder(join(READY, name));
  await inOneProject(projectId, 'make automation-ready', async (scope) =>
    sayChanges(await applyFolder(scope, folder, { sender: sender || undefined, activates: true })),
  );
};

await runCommand(() => main(process.argv.slice(2)));
