import { randomBytes } from 'node:crypto';
import { readlinkSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder, findLocalPostgres, isAlive } from './local_postgres.ts';

const PREFIX = 'trunkline-';
const OWNER_FILE = 'owner.json';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REMOVE_RETRIES = { maxRetries: 40, retryDelay: 50 };

/** Who made a folder: a pid means nothing to a container that only shares its files. */
type Owner = { pid: number; pids: string; dir: string };

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
  await chmod(folder, 0o755); // The server may run under another account.
  const dir = join(folder, `data-${randomBytes(4).toString('hex')}`);
  const owner: Owner = { pid: process.pid, pids: readPids(), dir };
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(owner));
  return { folder, dir };
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

/** Ends and deletes what processes left behind that were killed before they could. */
export const clearLeftovers = async (): Promise<void> => {
  for (const folder of [...(await listFolders(tmpdir())), ...(await listFolders(MEMORY))]) {
    const owner = await readOwner(folder);
    if (owner === null || owner.pids !== readPids() || isAlive(owner.pid)) continue;
    const server = await findLocalPostgres(owner.dir);
    await server?.stop('immediate');
    for (const made of [folder, dataFolder(owner.dir)])
      await rm(made, { recursive: true, force: true });
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
