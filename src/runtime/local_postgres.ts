import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findAccount, findBinaries, placeFor } from './postgres_account.ts';
import type { Account, Binaries } from './postgres_account.ts';

/** A Postgres server of our own: the real binaries from npm, over a folder of data. */
export type LocalPostgres = {
  url: string;
  /** Where its data is: the folder asked for, or the one in its place. */
  dir: string;
  pid: number;
  /** Whether this call started it, or found it running. */
  isOurs: boolean;
  stop: (mode?: 'fast' | 'immediate') => Promise<void>;
};
export type LocalPostgresOptions = {
  dir: string;
  port: number;
  settings?: Record<string, string | number>;
};

const USER = 'postgres';
const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 10;

/** Whether a process is there, whoever it belongs to. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });

/** Line 1 is the pid, 4 the port, 8 "starting" or "ready". The file survives a crash, so it is never believed alone. */
const readPidFile = async (dir: string) => {
  const lines = (await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  return pid
    ? { pid, port: Number(lines[3]), isReady: lines[7]?.startsWith('ready') ?? false }
    : null;
};

const initialise = async ({ initdb }: Binaries, dir: string, account: Account): Promise<void> => {
  const options = [
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  const args = [`--pgdata=${dir}`, `--username=${USER}`, ...options, '--no-instructions'];
  const child = spawn(initdb, args, { ...account, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  throw new Error(`initdb failed (${code}): ${said}`);
};

const prepareFolder = async (dir: string, { uid, gid }: Account): Promise<void> => {
  // Only the data folder itself is closed: the other account must be able to pass through its parents.
  await mkdir(dirname(dir), { recursive: true });
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (uid !== undefined && gid !== undefined) await chown(dir, uid, gid);
};

const waitUntilReady = async (child: ChildProcess, dir: string): Promise<void> => {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const found = await readPidFile(dir);
    if (found?.pid === child.pid && found?.isReady) return;
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAt) {
      throw new Error(
        `Postgres did not start:\n${await readFile(join(dir, 'server.log'), 'utf8')}`,
      );
    }
    await wait(POLL_MS);
  }
};

const launch = async (
  binaries: Binaries,
  account: Account,
  options: LocalPostgresOptions,
): Promise<number> => {
  const { dir, port } = options;
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // A new installation is filled at once: what its tables hold should be known before long.
    autovacuum_naptime: '10s',
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await open(join(dir, 'server.log'), 'w');
  // Detached: a Ctrl-C in the terminal must not reach the server before the service has closed its pools.
  const child = spawn(binaries.postgres, ['-D', dir, '-p', String(port), ...flags], {
    ...account,
    cwd: dir,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  await waitUntilReady(child, dir);
  child.unref();
  return child.pid ?? 0;
};

const stopServer = async (pid: number, mode: 'fast' | 'immediate'): Promise<void> => {
  if (!isAlive(pid)) return;
  process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  const giveUpAt = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid)) {
    if (Date.now() > giveUpAt) throw new Error(`Postgres (pid ${pid}) does not stop.`);
    await wait(POLL_MS);
  }
};

type Running = { dir: string; pid: number; port: number; isOurs: boolean };

const toHandle = ({ dir, pid, port, isOurs }: Running): LocalPostgres => ({
  url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
  dir,
  pid,
  isOurs,
  stop: (mode = 'fast') => stopServer(pid, mode),
});

const findRunning = async (dir: string): Promise<LocalPostgres | null> => {
  const found = await readPidFile(dir);
  const isRunning = found !== null && isAlive(found.pid) && (await answers(found.port));
  return isRunning ? toHandle({ dir, ...found, isOurs: false }) : null;
};

/** Where the data of a folder really is: root's server cannot always reach the folder itself. */
export const dataFolder = (dir: string): string => placeFor(resolve(dir), findAccount());

/** The server that runs over a folder of data, or null. */
export const findLocalPostgres = (dir: string): Promise<LocalPostgres | null> =>
  findRunning(dataFolder(dir));

/**
 * Starts the server over a folder, making the folder at first; attaches when one runs there already.
 * Listens on the loopback address only and trusts whoever can reach it: for development, tests and
 * small installations on one machine.
 */
export const startLocalPostgres = async (options: LocalPostgresOptions): Promise<LocalPostgres> => {
  const account = findAccount();
  const dir = placeFor(resolve(options.dir), account);
  const running = await findRunning(dir);
  if (running) return running;

  const binaries = await findBinaries(account);
  await prepareFolder(dir, account);
  if (!existsSync(join(dir, 'PG_VERSION'))) await initialise(binaries, dir, account);
  const pid = await launch(binaries, account, { ...options, dir });
  return toHandle({ dir, pid, port: options.port, isOurs: true });
};
