// `make automations-export`, `automations-apply`, `automation-ready`: automations as files.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as automations from '../automations/automations.ts';
import type { Scope } from '../base/db.ts';
import { activateApplied, applyFile, AutomationFile, exportFile } from './automation_file.ts';
import type { Applied } from './automation_file.ts';
import { inOneProject, OnlyLooked, readProjectId } from './in_one_project.ts';
import { runCommand } from './run_command.ts';

const READY = join(import.meta.dirname, 'ready');

const readFile = (path: string): AutomationFile =>
  AutomationFile.parse(JSON.parse(readFileSync(path, 'utf8')));

const say = (file: AutomationFile, { version, changes }: Applied): void => {
  console.log(changes.length === 0 ? `${file.name}: nothing to change` : changes.join('\n'));
  console.log(`${file.name}: version ${version}`);
};

/** Applies a file and says what changes; unless it is meant, it is all taken back. */
const apply = async (
  scope: Scope,
  file: AutomationFile,
  { provider, isMeant }: { provider: string | undefined; isMeant: boolean },
): Promise<void> => {
  const applied = await applyFile(scope, file, provider);
  say(file, applied);
  if (!isMeant) throw new OnlyLooked('Nothing was changed. Say go=yes to do it.');
  await activateApplied(scope, applied);
  console.log(`${file.name}: version ${applied.version} is active`);
};

const exportAll = async (scope: Scope, name: string | undefined): Promise<void> => {
  const rows = await automations.listAutomations(scope, { limit: 1_000, beforeId: null });
  const wanted = rows.filter((row) => name === undefined || row.name === name);
  if (wanted.length === 0) throw new Error('There is no such automation.');
  const files = [];
  for (const { automation_id } of wanted) files.push(await exportFile(scope, automation_id));
  console.log(JSON.stringify(name === undefined ? files : files[0], null, 2));
};

/** The ready automation of a name. */
const findReady = (name: string): AutomationFile => {
  const names = globSync('*.json', { cwd: READY }).map((file) => basename(file, '.json'));
  if (!names.includes(name)) throw new Error(`ready= is one of ${names.toSorted().join(', ')}`);
  return readFile(join(READY, `${name}.json`));
};

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

const run = async (scope: Scope, [verb, what, provider, go]: string[]): Promise<void> => {
  const options = { provider: given(provider), isMeant: go === 'yes' || verb === 'ready' };
  if (verb === 'export') return exportAll(scope, given(what));
  if (verb === 'apply') return apply(scope, readFile(what ?? ''), options);
  if (verb === 'ready') return apply(scope, findReady(what ?? ''), options);
  throw new Error('export, apply or ready');
};

const main = ([project = '', ...rest]: string[]): Promise<void> =>
  inOneProject(readProjectId(project), (scope) => run(scope, rest));

await runCommand(() => main(process.argv.slice(2)));
