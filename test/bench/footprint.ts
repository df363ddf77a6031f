// What an installation takes: memory at rest and under load, and time until it is ready.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { createProject } from '../../src/projects/projects.ts';
import { openInstallation, residentMiB } from './installation.ts';
import { askAsFastAsAnswered } from './load.ts';
import type { Comparison } from './measure.ts';
import { untilProcessed } from './process.ts';
import { nextBatch } from './some_events.ts';

const ROUNDS = 5;
const LOAD_MS = 5_000;
const SAMPLE_MS = 250;
const REST_MS = 2_000;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
const READY_SECONDS_MAX = 10;
/** And the three after it: none that the system gives to whoever connects. */
const PORT = '27310';

const memory = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const api = await installation.start('api');
  const worker = await installation.start('worker');
  const { server_key: token } = await createProject(installation.deps, 'bench');
  await wait(REST_MS);
  const atRest = { api: residentMiB(api.pid), worker: residentMiB(worker.pid) };
  const most: { api: number[]; worker: number[] } = { api: [], worker: [] };
  const load = { port: api.port, connections: CONNECTIONS, path: '/v1/events/batch', token };
  for (let round = 0; round < ROUNDS; round += 1) {
    const samples: { api: number[]; worker: number[] } = { api: [], worker: [] };
    const sampling = setInterval(() => {
      samples.api.push(residentMiB(api.pid));
      samples.worker.push(residentMiB(worker.pid));
    }, SAMPLE_MS);
    await askAsFastAsAnswered(load, () => nextBatch(BATCH_EVENTS), { afterMs: LOAD_MS });
    await untilProcessed(installation.url);
    clearInterval(sampling);
    most.api.push(Math.max(...samples.api));
    most.worker.push(Math.max(...samples.worker));
  }
  await installation.close();
  return (['api', 'worker'] as const).map((role) => ({
    name: `memory of the ${role}, with as many events as are answered`,
    unit: 'MiB',
    measured: most[role],
    comparedWith: 'at rest',
    comparison: most[role].map(() => atRest[role]),
    good: { atMost: 2 },
  }));
};

/** Seconds until a command says something; then it is ended. */
const secondsUntil = async (
  args: readonly string[],
  said: string,
  settings: readonly string[],
): Promise<number> => {
  const startedAt = performance.now();
  const child = spawn('env', [...settings, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let seconds = Number.NaN;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(said)) continue;
    seconds = (performance.now() - startedAt) / 1_000;
    child.kill('SIGTERM');
  }
  await exited;
  if (Number.isNaN(seconds)) throw new Error(`${args.join(' ')} ended without “${said}”`);
  return seconds;
};

const SOURCE = join(import.meta.dirname, '..', '..', 'src');
const START = [join(SOURCE, 'runtime', 'start.ts')];

const startUp = async (): Promise<Comparison> => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-bench-'));
  const settings = [`TRUNKLINE_HOME=${folder}`, `PORT=${PORT}`];
  try {
    const first = await secondsUntil(START, 'Trunkline is ready', settings);
    const again: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      again.push(await secondsUntil(START, 'Trunkline is ready', settings));
    return {
      name: '`make start` until all of it is ready, with data that is there',
      unit: 's',
      measured: again,
      comparedWith: 'the first start, which makes the server, its schema and an example',
      comparison: again.map(() => first),
      good: { atMost: 1 },
      bound: { atMost: READY_SECONDS_MAX },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Memory of the processes, at rest and under load, and how long a start takes. */
export const footprint = async (): Promise<Comparison[]> => [...(await memory()), await startUp()];
