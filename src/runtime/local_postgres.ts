import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { chown, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { requireScram } from '../base/require_scram.ts';
import { ROLES } from '../base/roles.ts';
import { findAccount, findBinaries, keepParent, placeFor } from './postgres_account.ts';
import type { Account, Binaries } from './postgres_account.ts';
import {
  isProtected,
  protect,
  refusesPassword,
  rulesFile,
  SUPERUSER,
  superuserUrl,
  withPasswordFile,
} from './postgres_password.ts';
import { findServerProcess, readPidFile, stopServerProcess } from './postgres_process.ts';
import type { ServerProcess, StopMode } from './postgres_process.ts';

/** A server found by its folder, whether or not its password is known. */
export type RunningPostgres = ServerProcess & { stop: (mode?: StopMode) => Promise<void> };

/** A Postgres server of our own: the real binaries from npm, over a folder of data. */
export type LocalPostgres = RunningPostgres & {
  /** The superuser's, with its password. Only migrations and operator commands get it. */
  url: string;
  /** Whether this call started it, or found it running. */
  isOurs: boolean;
};
export type LocalPostgresOptions = {
  dir: string;
  port: number;
  /** The superuser's. A folder that has another one, or none, gets this one. */
  password: string;
  settings?: Record<string, string | number>;
  /** Receives one line when a folder did not ask for passwords, or for another one. */
  say?: (line: string) => void;
};

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 10;
const LOOPBACK = '127.0.0.1';
const PRIVATE_FILE_MODE = 0o600;

const LOCALE = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** The folder, how to run programs over it, and what the caller asked for. */
type Parts = LocalPostgresOptions & { binaries: Binaries; account: Account };

const initialise = ({ binaries, account, dir, password }: Parts): Promise<void> =>
  withPasswordFile(password, account, async (file) => {
    const access = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${file}`];
    const args = [`--pgdata=${dir}`, ...access, ...LOCALE, '--no-instructions'];
    const child = spawn(binaries.initdb, args, {
      ...account,
      cwd: dir,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`initdb failed (${code}): ${output}`);
  });

const prepareFolder = async ({ dir, account: { uid, gid } }: Parts): Promise<void> => {
  // Only the data folder itself is closed: the other account must be able to pass through its parents.
  await keepParent(dir);
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (uid !== undefined && gid !== undefined) await chown(dir, uid, gid);
};

/** The folder belongs to the server's account: a link that it put there must not lead our own rights elsewhere. */
const openLog = async (dir: string): Promise<FileHandle> => {
  const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = join(dir, 'server.log');
  const log = await open(file, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, PRIVATE_FILE_MODE);
  await log.chmod(PRIVATE_FILE_MODE);
  return log;
};

const readLog = async (log: FileHandle): Promise<string> => {
  const { size } = await log.stat();
  const { buffer } = await log.read(Buffer.alloc(size), 0, size, 0);
  return buffer.toString('utf8');
};

const waitUntilReady = async (child: ChildProcess, dir: string, log: FileHandle): Promise<void> => {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const found = await readPidFile(dir);
    if (found?.pid === child.pid && found?.isReady) return;
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAt) {
      throw new Error(`Postgres did not start:\n${await readLog(log)}`);
    }
    await wait(POLL_MS);
  }
};

const launch = async ({ binaries, account, dir, port, settings }: Parts): Promise<number> => {
  const all = {
    listen_addresses: LOOPBACK,
    unix_socket_directories: '',
    // A new installation is filled at once: what its tables hold should be known before long.
    autovacuum_naptime: '10s',
    ...settings,
    password_encryption: 'scram-sha-256',
    hba_file: rulesFile(dir),
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await openLog(dir);
  try {
    // Detached: a Ctrl-C in the terminal must not reach the server before the service has closed its pools.
    const child = spawn(binaries.postgres, ['-D', dir, '-p', String(port), ...flags], {
      ...account,
      cwd: dir,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await waitUntilReady(child, dir, log);
    child.unref();
    return child.pid ?? 0;
  } finally {
    await log.close();
  }
};

const toRunning = (server: ServerProcess): RunningPostgres => {
  // Another user may take the port while the server is away.
  requireScram(LOOPBACK, server.port);
  return { ...server, stop: (mode = 'fast') => stopServerProcess(server, mode) };
};

/** Returns where the data of a folder really is: root's server cannot always reach the folder itself. */
export const dataFolder = (dir: string): string => placeFor(resolve(dir), findAccount());

/** Finds the server that runs over a folder of data, or null. */
export const findLocalPostgres = async (dir: string): Promise<RunningPostgres | null> => {
  const server = await findServerProcess(dataFolder(dir));
  return server && toRunning(server);
};

const OPEN = 'postgres: the data folder did not require a password; it does from now on';
const CLOSED =
  'postgres: any user of this machine could create roles while no password was needed. These are closed now; run ' +
  '"make analyst" again for each login that you need:';
const CHANGED = 'postgres: the data folder had another password; it gets the one in secrets.json';

/** Starts the server over a folder that has data, and sees to it that it takes this password and nothing else. */
const startProtected = async (parts: Parts): Promise<RunningPostgres> => {
  const { dir, port, password, say } = parts;
  const start = async () => toRunning({ dir, port, pid: await launch(parts) });
  if (!(await isProtected(dir))) {
    say?.(OPEN);
    const closed = await protect(dir, password, { ...parts, isOpen: true });
    const others = closed.filter((role) => !ROLES.some((own) => own === role));
    if (others.length > 0) say?.(`${CLOSED} ${others.join(', ')}`);
  }
  const server = await start();
  if (!(await refusesPassword(superuserUrl(port, password)))) return server;
  say?.(CHANGED);
  await server.stop();
  await protect(dir, password, { ...parts, isOpen: false });
  const again = await start();
  if (!(await refusesPassword(superuserUrl(port, password)))) return again;
  await again.stop();
  throw new Error(`Postgres refuses the password of its superuser "${SUPERUSER}" (${dir}).`);
};

const findUsable = async (dir: string, password: string): Promise<RunningPostgres | null> => {
  const server = await findServerProcess(dir);
  if (server === null) return null;
  const isUsable =
    (await isProtected(dir)) && !(await refusesPassword(superuserUrl(server.port, password)));
  if (isUsable) return toRunning(server);
  // What another user opened while no password was needed ends with it.
  await stopServerProcess(server, 'fast');
  return null;
};

/**
 * Starts the server over a folder, creating the folder at first; attaches when one runs there already. It listens on
 * the loopback address only, and every role needs its password. For development, tests and small installations.
 */
export const startLocalPostgres = async (options: LocalPostgresOptions): Promise<LocalPostgres> => {
  const account = findAccount();
  const dir = placeFor(resolve(options.dir), account);
  const { password } = options;
  const toLocal = (server: RunningPostgres, isOurs: boolean): LocalPostgres => ({
    ...server,
    url: superuserUrl(server.port, password),
    isOurs,
  });
  const running = await findUsable(dir, password);
  if (running) return toLocal(running, false);

  const parts = { ...options, dir, account, binaries: await findBinaries(account) };
  await prepareFolder(parts);
  if (!existsSync(join(dir, 'PG_VERSION'))) await initialise(parts);
  return toLocal(await startProtected(parts), true);
};
