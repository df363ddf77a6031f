import { setTimeout as wait } from 'node:timers/promises';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { checkpoint, openInstallation } from './installation.ts';
import { askAsFastAsAnswered } from './load.ts';
import type { Comparison } from './measure.ts';
import { insertFor, openRawInsert } from './raw_insert.ts';
import { nextBatch } from './some_events.ts';

const ROUNDS = 5;
const ROUND_MS = 4_000;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
const POLL_MS = 20;

/** Waits until no flush waits for a worker. */
export const untilProcessed = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    while ((await client.query('select from ingest.pending limit 1')).rowCount !== 0)
      await wait(POLL_MS);
  });

/** Accepting and processing, by an api process and a worker, until nothing is left to do. */
export const processing = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { url } = installation;
  const service = await installation.start('api');
  await installation.start('worker');
  const raw = await openRawInsert(url);
  const { server_key: token } = await createProject(installation.deps, 'bench');
  const load = { port: service.port, connections: CONNECTIONS, path: '/v1/events/batch', token };

  const acceptAndProcess = async (): Promise<number> => {
    const startedAt = performance.now();
    let batches = 0;
    await askAsFastAsAnswered(load, () => ((batches += 1), nextBatch(BATCH_EVENTS)), {
      afterMs: ROUND_MS,
    });
    await untilProcessed(url);
    return (batches * BATCH_EVENTS * 1_000) / (performance.now() - startedAt);
  };
  await acceptAndProcess();
  await insertFor(raw, BATCH_EVENTS, ROUND_MS / 2);
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await checkpoint(url);
    measured.push(await acceptAndProcess());
    await checkpoint(url);
    comparison.push(await insertFor(raw, BATCH_EVENTS, ROUND_MS));
  }
  await raw.close();
  await installation.close();
  return [
    {
      name: 'events accepted and processed until idle: identities, profiles, triggers (none match)',
      unit: 'events/s',
      measured,
      comparedWith: 'array inserts of 50 rows a commit, without message ids, one connection',
      comparison,
      good: { atLeast: 0.5 },
    },
  ];
};
