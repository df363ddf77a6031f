import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Logger as WorkerLogger, run } from 'graphile-worker';
import type { Runner, WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import type { Deps } from '../base/deps.ts';
import { loadTasks } from '../base/task.ts';
import { queueUrl } from '../base/roles.ts';
import { NEVER_MS, Watchers } from '../base/watchers.ts';
import { keepMonths } from '../ingest/ingest.ts';
import { Liveness, openSession } from './liveness.ts';
import { startSweeper } from './sweeper.ts';

const TASKS_FOLDER = join(import.meta.dirname, '..', '..', 'tasks');
const CONNECTIONS_BESIDES_JOBS = 4;
/** How long a queue that stops has, once its jobs have ended, to write that down. */
const NOTE_MS = 2_000;

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const;

/**
 * The queue's messages in our log. Only what it says by itself: of failed jobs it would repeat error
 * messages and payloads, and those base/task.ts has logged already, as they may be.
 */
const toWorkerLogger = ({ log }: Deps) =>
  new WorkerLogger((scope) => (level, message) => {
    const said = message.split('\n')[0] ?? '';
    log[levels[level]](scope, /failed task|error/i.test(said) ? 'a job failed' : said);
  });

const openPool = ({ config, log }: Deps, url: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: config.workerConcurrency + CONNECTIONS_BESIDES_JOBS,
  });
  const onError = (error: Error) => log.warn({ err: error }, 'queue connection lost');
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
};

/** The jobs of the queue that are under way. */
class UnderWay {
  readonly #watchers = new Watchers();
  #count = 0;

  constructor(events: WorkerEvents) {
    const onEnd = () => {
      this.#count -= 1;
      this.#watchers.notify();
    };
    events.on('job:start', () => (this.#count += 1));
    events.on('job:success', onEnd);
    events.on('job:error', onEnd);
  }

  /**
   * Waits for a queue that stops: for its jobs as long as they take, for itself a moment. One that lost its connections
   * while several jobs ended would never stop (https://github.com/graphile/worker/issues/636); what it did not write
   * down is given back by the sweeper.
   */
  async end(stopped: Promise<unknown>): Promise<void> {
    let isStopped = false;
    const note = () => {
      isStopped = true;
      this.#watchers.notify();
    };
    stopped.then(note, note);
    do {
      await this.#watchers.when(() => this.#count === 0, NEVER_MS);
      await this.#watchers.when(() => isStopped, NOTE_MS);
    } while (this.#count > 0);
  }
}

export type Worker = { stop: () => Promise<void> };

/**
 * Starts taking jobs. `onLost` is called when the worker can no longer work by itself: the
 * process then stops and its supervisor starts a new one.
 */
export const startWorker = async (deps: Deps, onLost: (why: string) => void): Promise<Worker> => {
  const url = queueUrl(deps);
  const liveness = await Liveness.open(url, {
    log: deps.log,
    onLost: () => onLost('liveness connection lost'),
  });
  // Whoever reaches further back than before need not wait for the daily job.
  await keepMonths(liveness.client, deps.config);
  const pool = openPool(deps, url);
  const events = new EventEmitter() as WorkerEvents;
  const jobs = new UnderWay(events);
  // It takes no more jobs from then on, but may never say that it has stopped.
  events.once('pool:fatalError', () => onLost('queue could not write down what was done'));
  const held = new Promise<void>((resolve, reject) => {
    events.once('pool:create', ({ workerPool }) => {
      liveness.hold(workerPool.id).then(resolve, reject);
    });
  });
  const stopping = new AbortController();
  const runner: Runner = await run({
    pgPool: pool,
    events,
    logger: toWorkerLogger(deps),
    noHandleSignals: true,
    concurrency: deps.config.workerConcurrency,
    taskList: await loadTasks(TASKS_FOLDER, {
      ...deps,
      workerId: () => liveness.workerId,
      // Not the heartbeat's: what waits for a lock would hold it up.
      jobs: pool,
      signal: stopping.signal,
    }),
    crontabFile: join(TASKS_FOLDER, 'crontab'),
    // Without these, stop() resolves before the last job is marked as done.
    preset: {
      worker: {
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  await held;
  const onEnd = () => {
    if (!stopping.signal.aborted) onLost('queue stopped by itself');
  };
  runner.promise.then(onEnd, onEnd);
  const session = await openSession(url, 'sweeper', (error) => {
    deps.log.error({ err: error }, 'sweeper connection lost');
    onLost('sweeper connection lost');
  });
  const sweeper = startSweeper(deps, session, liveness.workerId);

  return {
    stop: async () => {
      stopping.abort();
      await sweeper.stop();
      await jobs.end(runner.stop());
      // Signed on until what has begun has ended: whoever is killed before that must be found dead.
      await deps.resources.close();
      await liveness.close();
      await jobs.end(pool.end());
    },
  };
};
