import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withoutCredentials } from '../config/database_url.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
/** Where Node keeps what it has compiled: a process that is started again is ready in half the time. */
export const COMPILED = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'node');
/**
 * The options of Node for a process with the role `worker`. By default, Node lets new objects take 64 MiB. With 16 MiB
 * a worker hands over as much email in the same CPU time. The api would be slower with them.
 * `.deploy/node_options.worker` has the same options.
 * https://nodejs.org/api/cli.html#--max-semi-space-sizesize-in-mib
 */
export const WORKER_NODE_OPTIONS = ['--max-semi-space-size=8'];
const READY_TIMEOUT_MS = 30_000;

export type Service = {
  pid: number;
  /** Where its HTTP door listens. */
  port: number;
  child: ChildProcess;
  /** The last thing it complained of, in its own words. */
  lastError: () => string | null;
  /** Ends it with a signal and waits; answers its exit code, or null when the signal killed it. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

export type Waiting = { hand_offs: number; seconds_left: number };

export type ServiceOptions = {
  env: Record<string, string>;
  /** Restart it whenever one of its files changes. */
  isWatching?: boolean;
  onLine?: (line: string) => void;
  /** Told when it stops and waits for hand-offs: how many, and for how long at most. */
  onWaiting?: (waiting: Waiting) => void;
};

const ERROR_LEVEL = 50;

/** What a line of the log complains of, or null. */
const readError = (line: string): string | null => {
  try {
    const { level, msg } = JSON.parse(line) as { level?: number; msg?: string };
    return level !== undefined && level >= ERROR_LEVEL ? (msg ?? null) : null;
  } catch {
    return null;
  }
};

/**
 * Returns the settings without the owner's credentials. The service derives the passwords of its own roles from
 * MASTER_KEY, and who reads its environment must not become the owner of the database.
 */
const withoutOwner = (env: Record<string, string>): Record<string, string> => {
  const { OWNER_DATABASE_URL: _, ...service } = env;
  for (const name of ['DATABASE_URL', 'DATABASE_POOL_URL'])
    if (service[name]) service[name] = withoutCredentials(service[name]);
  return service;
};

/** What it says on its channel. */
type Said = { ready?: { port: number }; waiting?: Waiting };

const waitUntilReady = (child: ChildProcess, exited: Promise<[number | null]>): Promise<number> => {
  const said: string[] = [];
  child.stdout?.on('data', (chunk) => said.push(String(chunk)));
  child.stderr?.on('data', (chunk) => said.push(String(chunk)));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${why}:\n${said.join('')}`));
    const giveUp = setTimeout(() => {
      fail('the service does not become ready');
      // Whoever tries again would have one process too many.
      child.kill('SIGKILL');
    }, READY_TIMEOUT_MS);
    // A watched process has its watcher's messages on the same channel.
    child.on('message', (message: Said) => {
      if (!message.ready) return;
      clearTimeout(giveUp);
      resolve(message.ready.port);
    });
    void exited.then(([code]) => {
      clearTimeout(giveUp);
      fail(`the service ended (${code ?? child.signalCode})`);
    });
  });
};

/**
 * Runs `src/main.ts` as a process of its own, without the owner's credentials. Resolves when it is ready; throws
 * what it said when it ends before.
 */
export const startService = async ({
  env,
  isWatching,
  onLine,
  onWaiting,
}: ServiceOptions): Promise<Service> => {
  const options = [
    ...(env['ROLE'] === 'worker' ? WORKER_NODE_OPTIONS : []),
    ...(isWatching ? ['--watch'] : []),
  ];
  const child = spawn(process.execPath, [...options, MAIN], {
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILED, ...withoutOwner(env) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let lastError: string | null = null;
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lastError = readError(line) ?? lastError;
      onLine?.(line);
    });
  }
  child.on('message', ({ waiting }: Said) => waiting && onWaiting?.(waiting));
  const port = await waitUntilReady(child, exited);
  return {
    pid: child.pid ?? 0,
    port,
    child,
    lastError: () => lastError,
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
};
