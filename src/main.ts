import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { describeSettings, listNeedlessCredentials, readConfig } from './config.ts';
import type { Config } from './config.ts';
import { SECRET_SETTINGS } from './config/setting_files.ts';
import { openDb, openPooledDb } from './base/db.ts';
import type { Db } from './base/db.ts';
import { watchPool } from './base/db_pools.ts';
import type { Deps } from './base/deps.ts';
import { armFailpoint } from './base/failpoint.ts';
import { Keys } from './base/keys.ts';
import { exitFlushed, openLog } from './base/log.ts';
import { requireScramOf } from './base/require_scram.ts';
import { Resources } from './base/resources.ts';
import { runtimeUrl } from './base/roles.ts';
import { lookAtSending } from './base/sending.ts';
import { openApi } from './http/api.ts';
import { findProxyWarning } from './http/client_address.ts';
import { tellHandOffsLeft } from './worker/hand_offs_left.ts';
import { warnOfLocalLinks } from './worker/local_links.ts';
import { tellLateness } from './worker/lateness.ts';
import type { Worker } from './worker/worker.ts';

/** After its notice a stop is graceful for so long. Hand-offs that wait longer for their answer end as unknown. */
const STOP_TIMEOUT_MS = 100_000;

const FROM_FILES = `  A secret can be in a file instead, which <SETTING>_FILE names: ${SECRET_SETTINGS.join(', ')}`;

const openRuntimeDb = ({ databaseUrl, databasePoolUrl }: Config, keys: Keys): Promise<Db> =>
  databasePoolUrl
    ? openPooledDb(runtimeUrl(databasePoolUrl, keys))
    : openDb(runtimeUrl(databaseUrl, keys));

/** Before the first connection. */
const protectPasswords = ({ databaseAuth, databaseUrl, databasePoolUrl }: Config): void => {
  if (databaseAuth === 'any') return;
  requireScramOf(databaseUrl);
  if (databasePoolUrl !== null) requireScramOf(databasePoolUrl);
};

const openDeps = async (config: Config): Promise<Deps> => {
  protectPasswords(config);
  const keys = new Keys(config.masterKey, config.outerKeys);
  const db = await openRuntimeDb(config, keys);
  return { config, keys, db, log: openLog(config.logLevel), resources: new Resources() };
};

/** Jobs of a process that serves requests as well get a pool of their own, so they cannot hold up the requests. */
const openJobDeps = async (deps: Deps): Promise<Deps> => {
  if (deps.config.role !== 'all') return deps;
  const db = await openRuntimeDb(deps.config, deps.keys);
  watchPool(deps, db);
  return { ...deps, db };
};

/** Before the first request: what comes from now on is not what a restored backup knew. */
const tellHeld = async (deps: Deps): Promise<void> => {
  try {
    if (await lookAtSending(deps)) deps.log.warn('sending is held until `make resume-sending`');
  } catch (error) {
    deps.log.warn({ err: error }, 'whether sending is held is not known yet');
  }
};

/** A process that can be read should not hold the owner's password: only migrations and operator commands need it. */
const warnOfCredentials = ({ log }: Deps): void => {
  const settings = listNeedlessCredentials();
  if (settings.length === 0) return;
  log.warn(
    { settings },
    'a setting has credentials that the service does not use: give them to migrations alone',
  );
};

const warnOfLinks = async (deps: Deps): Promise<void> => {
  try {
    await warnOfLocalLinks(deps);
  } catch (error) {
    deps.log.warn({ err: error }, 'whether readers can open unsubscribe links is not known yet');
  }
};

/** Starts a worker. An api does not load the code of workers, nor a worker the code of apis. */
const beginWork = async (deps: Deps, onLost: (why: string) => void): Promise<Worker> =>
  (await import('./worker/worker.ts')).startWorker(deps, onLost);

/** Says what a stop waits for: in the log, and to whoever started us with a channel. */
const tellWaiting = (deps: Deps, endsAt: number): void =>
  tellHandOffsLeft(deps, (hand_offs) => {
    const seconds_left = Math.ceil((endsAt - performance.now()) / 1_000);
    deps.log.info({ hand_offs, seconds_left }, 'waiting for hand-offs');
    if (process.connected) process.send?.({ waiting: { hand_offs, seconds_left } });
  });

type Close = (how: { isAsked: boolean; hurry: AbortSignal }) => Promise<void>;

/** Starts what the role asks for; answers how to stop it, in order, and without notice once the signal says so. */
const start = async (deps: Deps, stop: (why: string, exitCode: number) => void): Promise<Close> => {
  const { role, stopNoticeMs } = deps.config;
  const readiness = { isDraining: false };
  const proxyWarning = role === 'worker' ? null : findProxyWarning(deps.config);
  if (proxyWarning !== null) deps.log.warn(proxyWarning);
  await tellHeld(deps);
  await warnOfLinks(deps);
  if (role === 'api') tellLateness(deps);
  const jobDeps = await openJobDeps(deps);
  const worker = role === 'api' ? null : await beginWork(jobDeps, (why) => stop(why, 1));
  const api = await openApi(deps, readiness, role !== 'worker');
  deps.log.info({ role, port: api.port, pid: process.pid }, 'ready');
  // Whoever started us with a channel is told, whatever the log level.
  process.send?.({ ready: { port: api.port } });
  // Where Node keeps what it compiled it does so at the end: of who is killed the next one would have nothing.
  flushCompileCache();
  return async ({ isAsked, hurry }) => {
    readiness.isDraining = true;
    // Whoever asks /readyz now and then sends requests until it has asked again: they are answered.
    if (role !== 'worker') await wait(stopNoticeMs, undefined, { signal: hurry }).catch(() => {});
    const stopped = worker?.stop();
    // A worker that lost Postgres waits for it to end what it began; until then requests are answered, if only by 503.
    if (!isAsked) await stopped;
    await Promise.all([api.close(), stopped]);
    await deps.resources.close();
    for (const db of new Set([jobDeps.db, deps.db])) await db.end();
  };
};

const main = async (): Promise<void> => {
  if (process.argv.includes('--help')) {
    console.log(
      `node src/main.ts\n\nSettings, from the environment:\n${describeSettings()}\n\n${FROM_FILES}`,
    );
    return;
  }
  const config = readConfig();
  armFailpoint(config.failpoint);
  const deps = await openDeps(config);
  warnOfCredentials(deps);
  let close: Close | undefined;
  let isStopping = false;
  const hurry = new AbortController();
  const stop = (why: string, exitCode: number, isAsked = false): void => {
    // Nobody waits for the notice who asks twice, or cannot work any more.
    if (isStopping || !isAsked) hurry.abort();
    if (isStopping) return;
    isStopping = true;
    const end = (code: number): void => {
      // The last word of whoever ends by itself: whoever starts it again tells it.
      if (!isAsked && code !== 0) deps.log.error(why);
      exitFlushed(deps.log, code);
    };
    deps.log.info({ why }, 'stopping');
    const stopMs = config.stopNoticeMs + STOP_TIMEOUT_MS;
    setTimeout(() => end(1), stopMs).unref();
    tellWaiting(deps, performance.now() + stopMs);
    void Promise.resolve(close?.({ isAsked, hurry: hurry.signal })).then(
      () => end(exitCode),
      (error: unknown) => {
        deps.log.error({ err: error }, 'stop failed');
        end(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM', 0, true));
  process.on('SIGINT', () => stop('SIGINT', 0, true));
  // Whoever started us with a channel has ended without a word: nobody would stop us any more.
  process.on('disconnect', () => stop('parent gone', 0));
  close = await start(deps, stop);
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
