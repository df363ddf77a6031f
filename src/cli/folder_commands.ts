import { readFolder, renewVersions, sayNothingIn, writeFolder } from '../admin/folder/disk.ts';
import type { Renewed } from '../admin/folder/disk.ts';
import { canAsk, confirm } from './ask.ts';
import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { showChanges } from './differences.ts';
import { misused } from './failure.ts';
import { findProject } from './project.ts';
import type { Project } from './project.ts';
import { plain, styleOf } from './terminal.ts';
import type { World } from './terminal.ts';

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

const inside = async (given: Given, world: World) => {
  const connection = connect(given, world);
  return { connection, project: await findProject(given, world, connection) };
};

const exportTo = async (given: Given, world: World): Promise<Answer> => {
  const path = given.word(0, 'which folder: trunkline export <folder>');
  const { connection, project } = await inside(given, world);
  const automation = given.text('automation');
  const asked = { projectId: project.id, ...(automation === undefined ? {} : { automation }) };
  const { files } = await ask(connection, () => connection.client.folder.exportFiles.query(asked));
  const left = writeFolder(path, new Map(Object.entries(files)));
  const names = Object.keys(files).toSorted();
  const strange = left.map((file) => `${plain(file)} is not of this project, and was left alone.`);
  return {
    value: { folder: path, files: names, left },
    text: [`${count(names.length, 'file')} in ${plain(path)}`, ...strange].join('\n'),
  };
};

const readFiles = (path: string): Record<string, string> => {
  const folder = readFolder(path);
  if (folder.size > 0) return Object.fromEntries(folder);
  throw misused(sayNothingIn(path), 'trunkline export writes such a folder.');
};

type Told = { file: string; changes: string[]; was: string | null; version: number }[];

const show = (told: Told, world: World): string => {
  const style = styleOf(world);
  const changed = told.filter(({ changes }) => changes.length > 0);
  const same = told.length - changed.length;
  return [
    ...changed.flatMap(({ file, changes, was }) => [
      `${style.bold(plain(file))}${was === null ? ' (new)' : ''}`,
      ...showChanges(changes, style),
    ]),
    ...(same > 0 ? [style.dim(`${count(same, 'file')} without a change`)] : []),
  ].join('\n');
};

const isSame = (told: Told): boolean => told.every(({ changes }) => changes.length === 0);
const seenIn = (told: Told) => Object.fromEntries(told.map(({ file, was }) => [file, was]));
const nameOf = ({ id, name }: Project): string => plain(name ?? id);

/** What is to be changed where, as the service is told. */
const readWanted = (given: Given, projectId: string) => {
  const provider = given.text('provider');
  return {
    projectId,
    files: readFiles(given.word(0, 'which folder: trunkline apply <folder>')),
    activates: given.is('activate'),
    ...(provider === undefined ? {} : { provider }),
  };
};

const sayRenewed = ({ renewed, left }: Renewed): string =>
  [
    ...(renewed.length > 0 ? [`${count(renewed.length, 'file')} given the new version.`] : []),
    ...left.map((file) => `${plain(file)} still says its old version: export it again.`),
  ].join('\n');

type Applied = { path: string; files: Record<string, string>; items: Told };

/** What was applied, the files saying by now which versions there are: the next change rests on this one. */
const finish = ({ path, files, items }: Applied, says: string): Answer => {
  const told = renewVersions(path, new Map(Object.entries(files)), items);
  const isChanged = !isSame(items);
  return {
    value: { applied: isChanged, items, ...told },
    text: isChanged ? says : 'Nothing to change.',
    aside: sayRenewed(told),
  };
};

const applyFrom = async (given: Given, world: World): Promise<Answer> => {
  const isDry = given.is('dry-run');
  const isSaid = given.is('yes');
  if (isDry && isSaid) throw misused('--dry-run changes nothing, --yes does: say one of them.');
  // Before anything is asked of the service: whoever can never answer is told at once.
  if (!isDry && !isSaid && !canAsk(world))
    throw misused('There is nobody to be asked here.', 'Say --dry-run to look, --yes to do it.');
  readWanted(given, '');
  const { connection, project } = await inside(given, world);
  const wanted = readWanted(given, project.id);
  const { folder } = connection.client;
  const from = { path: given.word(0, 'which folder'), files: wanted.files };
  const place = `the project ${nameOf(project)} at ${connection.url}`;
  const changed = `Changed ${place}.`;
  if (isSaid) {
    const { items } = await ask(connection, () => folder.applyFiles.mutate(wanted));
    return finish({ ...from, items }, `${show(items, world)}\n${changed}`);
  }
  const { items } = await ask(connection, () => folder.compareFiles.mutate(wanted));
  const isNothing = isSame(items);
  if (isDry)
    return {
      value: { applied: false, items, renewed: [], left: [] },
      text: isNothing ? 'Nothing to change.' : show(items, world),
      aside: isNothing ? '' : 'Nothing was changed.',
    };
  if (isNothing) return finish({ ...from, items }, '');
  world.stdout.write(`${show(items, world)}\n`);
  await confirm(world, { isSaid, question: `Change ${place} so?` });
  const seen = seenIn(items);
  const done = await ask(connection, () => folder.applyFiles.mutate({ ...wanted, seen }));
  return finish({ ...from, items: done.items }, changed);
};

export const folderCommands: Command[] = [
  {
    name: 'export',
    takes: '<folder>',
    wordsMax: 1,
    says: 'Write templates, segments and automations as files.',
    options: {
      automation: { takes: 'name', says: 'That automation alone, with what it needs.' },
    },
    isOfProject: true,
    run: exportTo,
  },
  {
    name: 'apply',
    takes: '<folder>',
    wordsMax: 1,
    says: 'Say what a folder would change, and make the project so.',
    more:
      'All or nothing. What is in no file stays as it is. An automation that is new there is a draft. ' +
      'What was changed there since the files were exported or applied, or since the question was asked, ' +
      'is refused: exit code 5. What was applied is of a new version then, and its files say which.',
    options: {
      'dry-run': { says: 'Only say what would change; viewers may, too.' },
      yes: { short: 'y', says: 'Do it without asking.' },
      provider: { takes: 'address', says: 'Who sends where a file names nobody: a from_email.' },
      activate: { says: 'Switch its automations on, too.' },
    },
    isOfProject: true,
    run: applyFrom,
  },
];
