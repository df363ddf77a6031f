import type { Limit } from '../base/route.ts';

/** A folder is one body. Whoever is not signed in is read no more of than of any other. */
export const FOLDER_BODY_BYTES_MAX = 8 * 1024 * 1024;
/** A request takes so many files: a template has two or three. */
export const FOLDER_FILES_MAX = 1_000;
/** As large as the largest template may be, written as JSON; an automation that has templates in itself is larger. */
export const FOLDER_FILE_CHARS_MAX = 1024 * 1024;
/** What is exported is one answer, in memory until it is taken: more than one request takes in again. */
export const FOLDER_EXPORT = { filesMax: 2_000, charsMax: 16 * 1024 * 1024 };
export const FILE_NAME_CHARS_MAX = 200;
/** How something was: its id, its version, and how it stood. */
export const SEEN_CHARS_MAX = 200;
/** How many folders of one person a process has in its hands at once. */
export const FOLDERS_PER_PERSON_MAX = 4;
/** Of everybody: each is kept in memory until it is answered. */
export const FOLDERS_MAX = 10;

const WHERE = '`folder`, admin API';

/** For people who write clients of the admin API, and for whoever keeps a large project in files. */
export const folderLimits: readonly Limit[] = [
  { name: 'Body of a folder', value: FOLDER_BODY_BYTES_MAX, unit: 'bytes', where: WHERE },
  { name: 'Files of a folder', value: FOLDER_FILES_MAX, unit: 'items', where: WHERE },
  { name: 'A file of a folder', value: FOLDER_FILE_CHARS_MAX, unit: 'characters', where: WHERE },
  {
    name: 'Files of an exported folder',
    value: FOLDER_EXPORT.filesMax,
    unit: 'items',
    where: '`folder.exportFiles`, admin API',
  },
  {
    name: 'An exported folder',
    value: FOLDER_EXPORT.charsMax,
    unit: 'characters',
    where: '`folder.exportFiles`, admin API',
  },
  { name: 'Name of such a file', value: FILE_NAME_CHARS_MAX, unit: 'characters', where: WHERE },
  {
    name: 'Folders of one person at a time',
    value: FOLDERS_PER_PERSON_MAX,
    unit: 'items',
    where: 'admin API, each process',
  },
  {
    name: 'Folders of everybody at a time',
    value: FOLDERS_MAX,
    unit: 'items',
    where: 'admin API, each process',
  },
];
