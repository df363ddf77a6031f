import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createProject } from '../../src/projects/projects.ts';
import { checkpoint, openInstallation } from './installation.ts';
import { askAsFastAsAnswered, askAtPace, doAtPace } from './load.ts';
import type { Load } from './load.ts';
import { quantile } from './measure.ts';
import type { Comparison } from './measure.ts';
import { insertFor, openRawInsert } from './raw_insert.ts';
import type { RawInsert } from './raw_insert.ts';
import { nextBatch, nextEvent, toJson } from './some_events.ts';

const ROUNDS = 5;
const ROUND_MS = 3_000;
const WARM_UP_MS = 1_500;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
/** Single events come from many clients. */
const CLIENTS = 128;
const HALF = 0.5;
const P99 = 0.99;
/** A stall of the machine must meet both sides: they take turns of a fraction of a second. */
const PACED_TURNS = 6;

const startBareKoa = async () => {
  const child = fork(join(import.meta.dirname, 'bare_koa.ts'));
  const [port] = (await once(child, 'message')) as [number];
  return { port, close: () => child.kill() };
};

const fullBatch = (): string => nextBatch(BATCH_EVENTS);

/** Milliseconds of each request, and of each insert of as many events and its commit, at the same pace and in turns. */
const samplePaced = async (batches: Load, { insert }: RawInsert, perSecond: number) => {
  const pace = { perSecond, forMs: ROUND_MS / PACED_TURNS };
  const answered: number[] = [];
  const committed: number[] = [];
  for (let turn = 0; turn < PACED_TURNS; turn += 1) {
    answered.push(...(await askAtPace(batches, fullBatch, pace)));
    committed.push(...(await doAtPace([() => insert(BATCH_EVENTS)], pace)));
  }
  return { answered: quantile(answered, P99), committed: quantile(committed, P99) };
};

/** Accepting only: no worker runs, as if all of them were on other machines. */
export const ingest = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { url } = installation;
  const service = await installation.start('api');
  const bare = await startBareKoa();
  const raw = await openRawInsert(url);
  const project = await createProject(installation.deps, 'bench');
  const load = { port: service.port, connections: CONNECTIONS, token: project.server_key };
  const batches = { ...load, path: '/v1/events/batch' };
  const singles = { ...load, connections: CLIENTS, path: '/v1/events' };
  const one = (): string => toJson(nextEvent());

  const figures = {
    batch: [] as number[],
    raw: [] as number[],
    single: [] as number[],
    bare: [] as number[],
    answered: [] as number[],
    committed: [] as number[],
  };
  await askAsFastAsAnswered(batches, fullBatch, { afterMs: WARM_UP_MS });
  await askAsFastAsAnswered(singles, one, { afterMs: WARM_UP_MS });
  await insertFor(raw, BATCH_EVENTS, WARM_UP_MS);
  await askAsFastAsAnswered({ ...singles, port: bare.port }, one, { afterMs: WARM_UP_MS });
  const forRound = { afterMs: ROUND_MS };
  for (let round = 0; round < ROUNDS; round += 1) {
    await checkpoint(url);
    const perSecond = await askAsFastAsAnswered(batches, fullBatch, forRound);
    figures.batch.push(perSecond * BATCH_EVENTS);
    await checkpoint(url);
    figures.raw.push(await insertFor(raw, BATCH_EVENTS, ROUND_MS));
    figures.single.push(await askAsFastAsAnswered(singles, one, forRound));
    figures.bare.push(await askAsFastAsAnswered({ ...singles, port: bare.port }, one, forRound));
    const paced = await samplePaced(batches, raw, perSecond * HALF);
    figures.answered.push(paced.answered);
    figures.committed.push(paced.committed);
  }
  await raw.close();
  bare.close();
  await installation.close();
  return [
    {
      name: 'events stored through the batch endpoint, 50 a request, each with a message id',
      unit: 'events/s',
      measured: figures.batch,
      comparedWith: 'array inserts of 50 rows a commit, without message ids, one connection',
      comparison: figures.raw,
      good: { atLeast: 0.8 },
    },
    {
      name: 'events stored through the single endpoint',
      unit: 'events/s',
      measured: figures.single,
      comparedWith: 'a Koa route that parses and answers 202',
      comparison: figures.bare,
      good: { atLeast: 0.4 },
    },
    {
      name: '202 for a batch of 50, 99th percentile, at half load',
      unit: 'ms',
      measured: figures.answered,
      comparedWith: 'one insert of 50 rows and its commit at the same pace, 99th percentile',
      comparison: figures.committed,
      good: { atMost: 4 },
    },
  ];
};
