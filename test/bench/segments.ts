import { setTimeout as wait } from 'node:timers/promises';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { Definition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import type { NewDefinition } from '../../src/segments/segments.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { askAsFastAsAnswered } from './load.ts';
import type { Comparison } from './measure.ts';
import { segmentFills, segmentRefreshes } from './segments_growth.ts';
import { nextEvent, toJson } from './some_events.ts';

const ROUNDS = 5;
const ROUND_MS = 4_000;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
const POLL_MS = 20;
const SEGMENTS = 50;
/** One event in so many is one that a segment asks for. */
const MATCHING_EVERY = 100;

/** Fifty definitions over one event name: windows, counts and filters of their own. */
const definitionOf = (at: number): NewDefinition => ({
  where: {
    kind: 'all',
    of: [
      {
        kind: 'not',
        of: { kind: 'trait', trait: 'plan', test: { is: 'equals', value: `plan-${at}` } },
      },
      {
        kind: 'event',
        event: 'order_completed',
        where: at % 5 === 0 ? [{ property: 'seconds', test: { is: 'greater', value: at } }] : [],
        count: { is: 'at_least', value: 1 + (at % 7) },
        ...(at % 3 === 0 ? {} : { within_days: 1 + at }),
      },
    ],
  },
});

/** Makes a segment of a project. */
export const makeSegment = (
  { deps }: Pick<Installation, 'deps'>,
  projectId: string,
  given: NewDefinition,
) =>
  inProject(deps, projectId, (scope) =>
    createSegment(scope, {
      segmentId: newId(),
      name: 'bench',
      definition: Definition.parse(given),
    }),
  );

const IDLE = `select from ingest.pending union all select from profiles.changes
  union all select from segments.projects where due_at is not null limit 1`;

/** Waits until nothing waits for a worker, members of segments neither. */
const untilIdle = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    while ((await client.query(IDLE)).rowCount !== 0) await wait(POLL_MS);
  });

let made = 0;
const nextBatch = (): string => {
  const events = Array.from({ length: BATCH_EVENTS }, () => {
    made += 1;
    const event = nextEvent();
    return toJson(made % MATCHING_EVERY === 0 ? { ...event, event: 'order_completed' } : event);
  });
  return `{"events":[${events.join(',')}]}`;
};

/** Accepting and processing for a project with fifty segments, beside one with none. */
export const throughput = async (): Promise<Comparison> => {
  const installation = await openInstallation();
  const { url, deps } = installation;
  const service = await installation.start('api');
  await installation.start('worker');
  const withSegments = await createProject(deps, 'segments');
  const without = await createProject(deps, 'none');
  for (let at = 0; at < SEGMENTS; at += 1)
    await makeSegment(installation, withSegments.project_id, definitionOf(at));
  await untilIdle(url);

  const run = async (token: string): Promise<number> => {
    await checkpoint(url);
    const startedAt = performance.now();
    let batches = 0;
    const load = { port: service.port, connections: CONNECTIONS, path: '/v1/events/batch', token };
    await askAsFastAsAnswered(load, () => ((batches += 1), nextBatch()), { afterMs: ROUND_MS });
    await untilIdle(url);
    return (batches * BATCH_EVENTS * 1_000) / (performance.now() - startedAt);
  };
  // So that everybody is known to both, and statistics are there.
  await run(withSegments.server_key);
  await run(without.server_key);
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.push(await run(withSegments.server_key));
    comparison.push(await run(without.server_key));
  }
  await installation.close();
  return {
    name: 'events accepted and processed until idle: 50 segments, of 1 % of the events',
    unit: 'events/s',
    measured,
    comparedWith: 'the same for a project without segments',
    comparison,
    good: { atLeast: 0.7 },
  };
};

/** What segments cost. */
export const segments = async (): Promise<Comparison[]> => [
  await throughput(),
  await segmentRefreshes(),
  await segmentFills(),
];
