import { chmod, lstat, mkdir, stat } from 'node:fs/promises';

const WRITABLE_BY_OTHERS = 0o022;
const PERMISSIONS = 0o777;
const PRIVATE_MODE = 0o700;
/** Root's Postgres has another account, which must pass through the folder to its data. It still lists nothing. */
const PASSABLE_MODE = 0o711;

/**
 * Returns what lets another user decide what is in a folder, or null when the folder is ours alone. A link counts as
 * another user's: it may lead anywhere.
 */
export const findIntrusion = async (folder: string): Promise<string | null> => {
  const { uid, mode, isDirectory } = await lstat(folder).then((found) => ({
    uid: found.uid,
    mode: found.mode & PERMISSIONS,
    isDirectory: found.isDirectory(),
  }));
  if (!isDirectory) return 'it is not a folder';
  if (uid !== process.getuid?.()) return `it belongs to another user (uid ${uid})`;
  return (mode & WRITABLE_BY_OTHERS) === 0 ? null : 'other users may write to it';
};

/** Throws when another user decides what is in a folder. */
export const checkOwnFolder = async (folder: string): Promise<void> => {
  const why = await findIntrusion(folder);
  if (why === null) return;
  throw new Error(
    `${folder} is not safe to use: ${why}. Remove it, or give it to this user with mode 0755.`,
  );
};

/** Creates a folder that other users can neither list nor write to, and closes one that was open to them. */
export const keepPrivateFolder = async (folder: string): Promise<void> => {
  const mode = process.getuid?.() === 0 ? PASSABLE_MODE : PRIVATE_MODE;
  await mkdir(folder, { recursive: true, mode });
  // A link of another user could lead somewhere else the next time, even if it leads to a folder of ours now.
  for (const { uid } of [await lstat(folder), await stat(folder)])
    if (uid !== process.getuid?.())
      throw new Error(`it belongs to another user (uid ${uid}). Use a folder of your own.`);
  await chmod(folder, mode);
};
