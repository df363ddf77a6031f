import { setTimeout as wait } from 'node:timers/promises';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { Definition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import type { NewDefinition } from '../../src/segments/segments.ts';
import type { Installation } from './installation.ts';
import { askAtPace } from './load.ts';
import { quantile } from './measure.ts';
import type { Comparison } from './measure.ts';
import { segmentsBeside } from './segments_beside.ts';
import { segmentFills, segmentRefreshes } from './segments_growth.ts';
import { segmentsNeighbour } from './segments_neighbour.ts';
import { nextEvent, toJson } from './some_events.ts';

const ROUNDS = 5;
const PACED_MS = 6_000;
const CONNECTIONS = 16;
const POLL_MS = 5;
const BATCH_EVENTS = 50;
const VISIBLE_MS_MAX = 2_000;
const P99 = 0.99;
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

/** The segments that events are looked at for. */
export const fiftySegments = async (
  installation: Pick<Installation, 'deps'>,
  projectId: string,
): Promise<void> => {
  for (let at = 0; at < SEGMENTS; at += 1)
    await makeSegment(installation, projectId, definitionOf(at));
};

let made = 0;
/** A request of events, one in a hundred of which a segment asks for. */
export const nextMatchingBatch = (count: number): string => {
  const events = Array.from({ length: count }, () => {
    made += 1;
    const event = nextEvent();
    return toJson(made % MATCHING_EVERY === 0 ? { ...event, event: 'order_completed' } : event);
  });
  return `{"events":[${events.join(',')}]}`;
};

type World = Pick<Installation, 'url' | 'deps'> & {
  port: number;
  project: { project_id: string; server_key: string };
};

/** Milliseconds from posting an event of somebody new until they are a member. */
const sampleMembership = async (
  { port, project, url }: World,
  segmentId: string,
  person: string,
): Promise<number> => {
  const postedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.server_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ event: 'visit_counted', external_id: person }),
  });
  if (response.status !== 202) throw new Error(`the event was answered ${response.status}`);
  return withClient(url, async (client) => {
    for (;;) {
      const { rowCount } = await client.query(
        `select from segments.members as member join identity.identities as known using (project_id, profile_id)
        where member.project_id = $1 and member.segment_id = $2 and known.value = $3`,
        [project.project_id, segmentId, person],
      );
      if (rowCount !== 0) return performance.now() - postedAt;
      await wait(POLL_MS);
    }
  });
};

/** How soon somebody is a member of a segment while half of the events come that could. */
export const membershipDelays = async (world: World, perSecond: number): Promise<Comparison> => {
  const { segment_id: segmentId } = await makeSegment(world, world.project.project_id, {
    where: {
      kind: 'event',
      event: 'visit_counted',
      where: [],
      count: { is: 'at_least', value: 1 },
    },
  });
  const load = {
    port: world.port,
    connections: CONNECTIONS,
    path: '/v1/events/batch',
    token: world.project.server_key,
  };
  const measured: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const pace = { perSecond: perSecond / BATCH_EVENTS, forMs: PACED_MS };
    let isOver = false;
    const loading = askAtPace(load, () => nextMatchingBatch(BATCH_EVENTS), pace).finally(
      () => (isOver = true),
    );
    const delays: number[] = [];
    while (!isOver)
      delays.push(await sampleMembership(world, segmentId, `member-${round}-${delays.length}`));
    await loading;
    measured.push(quantile(delays, P99));
  }
  return {
    name: 'event accepted → member of a segment, 99 of 100, at half load',
    unit: 'ms',
    measured,
    comparedWith: 'what is promised',
    comparison: measured.map(() => VISIBLE_MS_MAX),
    good: { atMost: 1 },
  };
};

/** What segments cost as their number, timelines and projects grow. */
export const segments = async (): Promise<Comparison[]> => [
  ...(await segmentsBeside()),
  await segmentsNeighbour(),
  await segmentRefreshes(),
  await segmentFills(),
];
