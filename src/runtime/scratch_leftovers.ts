import { readlinkSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder, findLocalPostgres } from './local_postgres.ts';
import { findIntrusion } from './own_folder.ts';
import { isAlive } from './postgres_process.ts';

const PREFIX = 'trunkline-';
const OWNER_FILE = 'owner.json';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REMOVE_RETRIES = { maxRetries: 40, retryDelay: 50 };

/** The process that made a folder: its pid, and the namespace of that pid. Containers share files, not pids. */
type Owner = { pid: number; pids: string };

/** The data folder within a folder. Its name is fixed, so that no file says what else to delete. */
const dataIn = (folder: string): string => join(folder, 'data');

/** What tells this machine's processes from those of a container; empty where there is no such thing. */
const readPids = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
};

/** Memory as a folder, where Linux has it. */
const MEMORY = '/dev/shm';
const MEMORY_FREE_BYTES_MIN = 8 * 1024 ** 3;
/** What may be written there: tests with all their databases and the log need a quarter of it. */
const MEMORY_ROOM_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Where data may lie that is made and thrown away all the time: in memory if there is plenty of it, else on the disk,
 * where a file system takes several times as long to make a thousand files again.
 */
export const findQuickFolder = async (): Promise<string> => {
  if (process.availableMemory() < MEMORY_FREE_BYTES_MIN) return tmpdir();
  const room = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return room < MEMORY_ROOM_BYTES_MIN ? tmpdir() : MEMORY;
};

/** A folder for a server, and a note of whose it is. */
export const makeFolder = async (parent = tmpdir()): Promise<{ folder: string; dir: string }> => {
  const folder = await mkdtemp(join(parent, PREFIX));
  // Root's server runs under another account, which must pass through it.
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
  const owner: Owner = { pid: process.pid, pids: readPids() };
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(owner));
  return { folder, dir: dataIn(folder) };
};

const readOwner = async (folder: string): Promise<Owner | null> => {
  try {
    return JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8')) as Owner;
  } catch {
    return null;
  }
};

const listFolders = async (parent: string): Promise<string[]> => {
  const names = await readdir(parent).catch(() => []);
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => join(parent, name));
};

/** Returns whether a folder is ours alone. The parents are shared: another user may put anything beside ours. */
const isOurs = async (folder: string): Promise<boolean> =>
  (await findIntrusion(folder).catch(() => 'it is gone')) === null;

/** Ends and deletes what processes of this user left behind that were killed before they could. */
export const clearLeftovers = async (): Promise<void> => {
  for (const folder of [...(await listFolders(tmpdir())), ...(await listFolders(MEMORY))]) {
    if (!(await isOurs(folder))) continue;
    const owner = await readOwner(folder);
    if (owner === null || owner.pids !== readPids() || isAlive(owner.pid)) continue;
    const dir = dataIn(folder);
    const server = await findLocalPostgres(dir);
    await server?.stop('immediate');
    for (const made of [folder, dataFolder(dir)]) await rm(made, { recursive: true, force: true });
  }
};

/**
 * Ends a server with this process, also when that ends by an error or a signal; answers what takes
 * this back. Who handles signals themselves goes on to do so.
 */
export const endWithProcess = ({
  pid,
  folders,
}: {
  pid: number;
  folders: string[];
}): (() => void) => {
  const end = (): void => {
    if (isAlive(pid)) process.kill(pid, 'SIGQUIT');
    for (const folder of folders)
      rmSync(folder, { recursive: true, force: true, ...REMOVE_RETRIES });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 1) return;
    process.removeListener('exit', end);
    end();
    process.removeListener(signal, onSignal);
    process.kill(process.pid, signal);
  };
  process.on('exit', end);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    process.removeListener('exit', end);
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  };
};
