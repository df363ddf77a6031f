// Folders of files on a disk. The command line takes this along: it knows nothing of the service.
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { withVersion } from './file_version.ts';

/** Files by their paths in the folder, with slashes. */
export type Folder = Map<string, string>;

const KINDS = ['templates', 'segments', 'automations'];
/** What files of a folder are called; anything else in it is somebody else's. */
export const OURS =
  /^(?:templates|segments|automations)\/[^/\\.\0][^/\\\0]*\.(?:json|html|mjml|txt)$/;

const AWAY = 'Move it away, or say another place.';
const MAY_NOT = 'you may not read or write there. Say another place, or have it allowed.';

/** What a disk says no to, in words, and what to do about it. */
const REFUSALS: Record<string, string> = {
  EACCES: MAY_NOT,
  EPERM: MAY_NOT,
  EROFS: 'nothing can be written there. Say another place.',
  ENOENT: 'it is not there, and cannot be made there. Say another place.',
  ENOSPC: 'the disk is full. Make room, and do it again.',
  EDQUOT: 'your part of the disk is full. Make room, and do it again.',
  EEXIST: `something else is in the way. ${AWAY}`,
  ENOTDIR: `it is in the way: a folder has to be there. ${AWAY}`,
  EISDIR: `it is a folder, and a file has to be there. ${AWAY}`,
  ENOTEMPTY: `it is a folder, and a file has to be there. ${AWAY}`,
  ENAMETOOLONG: 'the name is too long. Say a shorter one.',
  ELOOP: `links lead in a circle there. ${AWAY}`,
};

/** The same, where somebody only reads. */
const READING: Record<string, string> = {
  EACCES: 'you may not read it. Say another place, or have it allowed.',
  EPERM: 'you may not read it. Say another place, or have it allowed.',
  ENOENT: 'it is not there. Say another place.',
};

/** What a disk says no to, as people say it; anything else as it is. Reading, it does not say of what: `at` does. */
export const sayDisk = (error: unknown, at?: string, words = REFUSALS): unknown => {
  const { code = '', path = at, dest = path } = error as NodeJS.ErrnoException & { dest?: string };
  if (dest === undefined || !/^E[A-Z]+$/.test(code)) return error;
  const says = words[code] ?? REFUSALS[code] ?? 'the system refuses it.';
  return new Error(`${dest} (${code}): ${says}`, { cause: error });
};

/** Works on a disk; what that says no to is said for people. */
export const onDisk = <T>(work: () => T, words = REFUSALS): T => {
  try {
    return work();
  } catch (error) {
    throw sayDisk(error, undefined, words);
  }
};

/** The same, where nothing is written. */
export const fromDisk = <T>(work: () => T): T => onDisk(work, READING);

const inTheWay = (path: string): Error => Object.assign(new Error(path), { code: 'ENOTDIR', path });

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const makeOne = (path: string, mode: number): void => {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody else was quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
};

/**
 * Makes a folder, with those above it. One after the other: asked for all at once, Node looks for ever where a system
 * has folders and lets nobody make one, such as /proc.
 */
export const makeFolder = (path: string, mode = 0o777): void => {
  const missing: string[] = [];
  let at = resolve(path);
  for (; !isFolder(at); at = dirname(at)) {
    if (statSync(at, { throwIfNoEntry: false })) throw inTheWay(at);
    missing.unshift(at);
  }
  for (const one of missing) makeOne(one, mode);
};

const listOf = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
};

/** What is there. A link is refused: it leads to what is somebody else's, to be sent away or written over. */
const lookAt = (path: string, file: string) => {
  const found = lstatSync(join(path, file), { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return found;
  throw new Error(`${join(path, file)} is a link, and none is followed: put the real one there.`);
};

const listKind = (path: string, kind: string): string[] =>
  lookAt(path, kind) === undefined ? [] : listOf(join(path, kind)).map((name) => `${kind}/${name}`);

/** Why there is nothing to be had from a folder. */
export const sayNothingIn = (path: string): string =>
  isFolder(path)
    ? `There is nothing in ${path}: no templates/, segments/ or automations/.`
    : `There is no folder ${path}.`;

/** The folder at a path, as far as it is one: what else lies there is left out. */
export const readFolder = (path: string): Folder =>
  fromDisk(() => {
    const folder = new Map<string, string>();
    const files = KINDS.flatMap((kind) => listKind(path, kind)).toSorted();
    for (const file of files) {
      if (!OURS.test(file) || lookAt(path, file)?.isFile() !== true) continue;
      // Some disks spell accents apart.
      const name = file.normalize('NFC');
      if (folder.has(name))
        throw new Error(
          `${join(path, name)} is there twice, its accents spelt in two ways: take one away.`,
        );
      folder.set(name, readFileSync(join(path, file), 'utf8'));
    }
    return folder;
  });

/** Writes what is different. Answers which files of ours are there that are not in it: they are left alone. */
export const writeFolder = (path: string, folder: Folder): string[] => {
  const strange = [...folder.keys()].find((file) => !OURS.test(file));
  if (strange !== undefined) throw new Error(`${JSON.stringify(strange)} is no file of a folder`);
  return onDisk(() => {
    makeFolder(path);
    const there = readFolder(path);
    for (const [file, content] of folder) {
      if (there.get(file) === content) continue;
      makeFolder(dirname(join(path, file)));
      writeFileSync(join(path, file), content);
    }
    return [...there.keys()].filter((file) => !folder.has(file));
  });
};

/** What a service answers of each file, by its path without an ending. */
type Become = readonly { file: string; version: number }[];

/** Which files say their new version by now, and which could not be had to. */
export type Renewed = { renewed: string[]; left: string[] };

const renew = (path: string, file: string, from: string, to: string): boolean => {
  try {
    // Who has changed it since goes on with what they have.
    if (lookAt(path, file)?.isFile() !== true) return false;
    if (readFileSync(join(path, file), 'utf8') !== from) return false;
    writeFileSync(join(path, file), to);
    return true;
  } catch {
    // What was applied stays so, whatever a disk says to that.
    return false;
  }
};

/** Has the files that were applied, and say a version, say the one that there is by now; nothing else changes. */
export const renewVersions = (path: string, applied: Folder, become: Become): Renewed => {
  const told: Renewed = { renewed: [], left: [] };
  for (const { file: key, version } of become) {
    const file = `${key}.json`;
    const from = applied.get(file) ?? '';
    const to = Number.isInteger(version) ? withVersion(from, version) : null;
    // An older installation says no versions.
    if (to === null || to === from) continue;
    told[renew(path, file, from, to) ? 'renewed' : 'left'].push(file);
  }
  return told;
};
