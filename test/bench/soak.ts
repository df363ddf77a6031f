import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { openInstallation, residentMiB } from './installation.ts';
import { askAsFastAsAnswered, askAtPace } from './load.ts';
import { quantile } from './measure.ts';
import type { Comparison } from './measure.ts';
import { nextBatch } from './some_events.ts';
import { untilProcessed } from './process.ts';

const WINDOW_MS = 10_000;
const WINDOWS = 60;
const FIND_MAXIMUM_MS = 15_000;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
const HALF = 0.5;
const P99 = 0.99;

type Window = {
  perSecond: number;
  p99: number;
  apiMiB: number;
  workerMiB: number;
  waiting: number;
};

const look = (url: string): Promise<{ waiting: number; deadlocks: number }> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ waiting: number; deadlocks: number }>(
      `select (select count(*)::int from ingest.pending) as waiting, deadlocks::int
       from pg_stat_database where datname = current_database()`,
    );
    return rows[0] ?? { waiting: Number.NaN, deadlocks: Number.NaN };
  });

const toComparisons = (windows: readonly Window[]): Comparison[] => {
  const third = Math.floor(windows.length / 3);
  const [first, last] = [windows.slice(0, third), windows.slice(-third)];
  const compare = (
    name: string,
    unit: string,
    read: (window: Window) => number,
    good: Comparison['good'],
  ): Comparison => ({
    name: `${name}, last third of a run of ${(windows.length * WINDOW_MS) / 60_000} minutes`,
    unit,
    measured: last.map(read),
    comparedWith: 'its first third',
    comparison: first.map(read),
    good,
  });
  return [
    compare('events answered', 'events/s', ({ perSecond }) => perSecond, { atLeast: 0.95 }),
    compare('202 for a batch, 99th percentile', 'ms', ({ p99 }) => p99, { atMost: 1.2 }),
    compare('memory of the api', 'MiB', ({ apiMiB }) => apiMiB, { atMost: 1.1 }),
    compare('memory of the worker', 'MiB', ({ workerMiB }) => workerMiB, { atMost: 1.1 }),
  ];
};

/** Ten minutes at half of what an api process and a worker take at most. */
export const soak = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { url } = installation;
  const complaints: string[] = [];
  const onLine = (line: string): void => {
    if (/"level":[56]0/.test(line)) complaints.push(line);
  };
  const api = await installation.start('api', {}, onLine);
  const worker = await installation.start('worker', {}, onLine);
  const { server_key: token } = await createProject(installation.deps, 'bench');
  const load = { port: api.port, connections: CONNECTIONS, path: '/v1/events/batch', token };
  const oneBatch = (): string => nextBatch(BATCH_EVENTS);

  const startedAt = performance.now();
  const accepted = await askAsFastAsAnswered(load, oneBatch, { afterMs: FIND_MAXIMUM_MS });
  await untilProcessed(url);
  const perSecond = (accepted * FIND_MAXIMUM_MS * HALF) / (performance.now() - startedAt);
  console.log(`\nsoak at ${Math.round(perSecond * BATCH_EVENTS)} events/s`);

  const windows: Window[] = [];
  for (let at = 0; at < WINDOWS; at += 1) {
    const windowAt = performance.now();
    const latencies = await askAtPace(load, oneBatch, { perSecond, forMs: WINDOW_MS });
    windows.push({
      perSecond: (latencies.length * BATCH_EVENTS * 1_000) / (performance.now() - windowAt),
      p99: quantile(latencies, P99),
      apiMiB: residentMiB(api.pid),
      workerMiB: residentMiB(worker.pid),
      waiting: (await look(url)).waiting,
    });
  }
  const drainAt = performance.now();
  await untilProcessed(url);
  const { deadlocks } = await look(url);
  const most = Math.max(...windows.map(({ waiting }) => waiting));
  console.log(
    `at most ${most} flushes waited; drained ${Math.round(performance.now() - drainAt)} ms after the end; ` +
      `${deadlocks} deadlocks; ${complaints.length} errors logged`,
  );
  for (const line of complaints) console.log(line);
  await installation.close();
  return toComparisons(windows);
};
