import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';

/** How long the queue alone takes from adding a job to starting it. */
export type QueueLatency = { sample: () => Promise<number>; close: () => Promise<void> };

/** A worker of the queue with the service's own settings and a job that does nothing. */
export const openQueueLatency = async (url: string): Promise<QueueLatency> => {
  const logger = new Logger(() => () => {});
  await runMigrations({ connectionString: url, logger });
  const pool = new pg.Pool({ connectionString: url, max: 14 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  let onStart: (at: number) => void = () => {};
  const runner = await run({
    pgPool: pool,
    logger,
    noHandleSignals: true,
    concurrency: 10,
    taskList: { nothing: () => onStart(performance.now()) },
    parsedCronItems: [],
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    sample: async () => {
      const started = new Promise<number>((resolve) => (onStart = resolve));
      const addedAt = performance.now();
      await client.query(`select from graphile_worker.add_job('nothing', '{}')`);
      return (await started) - addedAt;
    },
    close: async () => {
      await runner.stop();
      await client.end();
      await pool.end();
    },
  };
};
