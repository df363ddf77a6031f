// Folders of files on a disk. The command line takes this along: it knows nothing of the service.
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files by their paths in the folder, with slashes. */
export type Folder = Map<string, string>;

const KINDS = ['templates', 'segments', 'automations'];
/** What files of a folder are called; anything else in it is somebody else's. */
export const OURS =
  /^(?:templates|segments|automations)\/[^/\\.\0][^/\\\0]*\.(?:json|html|mjml|txt)$/;

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

export const readFolder = (path: string): Folder =>
  new Map(
    KINDS.flatMap((kind) => listKind(path, kind))
      .filter((file) => OURS.test(file) && lookAt(path, file)?.isFile() === true)
      .toSorted()
      // Some disks spell accents apart.
      .map((file) => [file.normalize('NFC'), readFileSync(join(path, file), 'utf8')]),
  );

/** Writes what is different. Answers which files of ours are there that are not in it: they are left alone. */
export const writeFolder = (path: string, folder: Folder): string[] => {
  const strange = [...folder.keys()].find((file) => !OURS.test(file));
  if (strange !== undefined) throw new Error(`${JSON.stringify(strange)} is no file of a folder`);
  mkdirSync(path, { recursive: true });
  const there = readFolder(path);
  for (const [file, content] of folder) {
    if (there.get(file) === content) continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return [...there.keys()].filter((file) => !folder.has(file));
};
