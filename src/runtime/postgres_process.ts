import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findAccount } from './postgres_account.ts';

export type StopMode = 'fast' | 'immediate';
/** A server that runs over a folder of data. */
export type ServerProcess = { dir: string; pid: number; port: number };

const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 10;

/** Returns whether a process exists, whichever user owns it. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });

/** Reads `postmaster.pid`: line 1 is the pid, 4 the port, 8 "starting" or "ready". */
export const readPidFile = async (dir: string) => {
  const lines = (await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 1
    ? { pid, port: Number(lines[3]), isReady: lines[7]?.startsWith('ready') ?? false }
    : null;
};

type Process = { uid: number; dataFolder: string };

const readFromProc = async (pid: number): Promise<Process> => {
  const { uid } = await stat(`/proc/${pid}`);
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  return { uid, dataFolder: args[args.indexOf('-D') + 1] ?? '' };
};

const readFromPs = async (pid: number): Promise<Process> => {
  const args = ['-ww', '-o', 'uid=', '-o', 'command=', '-p', String(pid)];
  const { stdout } = await promisify(execFile)('ps', args);
  const [, uid, dataFolder = ''] = /^\s*(\d+)\s.*? -D (.*?) -p \d/.exec(stdout) ?? [];
  return { uid: Number(uid), dataFolder };
};

/**
 * Returns whether a process is the server over a folder: the right user runs it, with this folder. The pid file proves
 * neither. It survives a crash, and another user's process may have the same pid and listen on the same port by then.
 */
const isServerOver = async (pid: number, dir: string): Promise<boolean> => {
  const uid = findAccount().uid ?? process.getuid?.();
  const read = process.platform === 'linux' ? readFromProc : readFromPs;
  try {
    const found = await read(pid);
    return (
      found.uid === uid && (await realpath(resolve(found.dataFolder))) === (await realpath(dir))
    );
  } catch {
    return false;
  }
};

/** Finds the server that runs over a folder of data, or null. */
export const findServerProcess = async (dir: string): Promise<ServerProcess | null> => {
  const found = await readPidFile(dir);
  const isRunning =
    found !== null && (await isServerOver(found.pid, dir)) && (await isListening(found.port));
  return isRunning ? { dir, pid: found.pid, port: found.port } : null;
};

/** Stops a server and waits until it is gone. A process that is not this server gets no signal. */
export const stopServerProcess = async (
  { dir, pid }: Pick<ServerProcess, 'dir' | 'pid'>,
  mode: StopMode,
): Promise<void> => {
  if (!(await isServerOver(pid, dir))) return;
  process.kill(pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  const giveUpAt = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid)) {
    if (Date.now() > giveUpAt) throw new Error(`Postgres (pid ${pid}) does not stop.`);
    await wait(POLL_MS);
  }
};
