import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import {
  fillCounters,
  insertConditions,
  setConditions,
} from '../../src/segments/condition_queries.ts';
import { listCounted } from '../../src/segments/conditions.ts';
import { DAY_MS } from '../../src/segments/moments.ts';
import { Definition } from '../../src/segments/schema.ts';
import { countEvents } from '../../src/segments/segments.ts';
import { insertProject } from '../../src/segments/record_queries.ts';
import { takeFlushes } from '../../src/ingest/ingest.ts';
import { seeEvents } from '../../src/profiles/profiles.ts';
import { untilWaiting } from '../base/connections.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { create, ordered, recount } from './recount.ts';

const database = testDatabase();
const EVENTS_IN_A_FLUSH = 20;

const post = (projectId: string, count = EVENTS_IN_A_FLUSH) => {
  const events = Array.from({ length: count }, (_, at) => ({
    event: at % 3 === 0 ? 'page_viewed' : 'order_completed',
    ...(at % 5 === 0 ? { anonymous_id: `device-${at % 4}` } : { external_id: `person-${at % 7}` }),
    properties: { seats: at % 9 },
    occurred_at: new Date(Date.now() - (at % 6) * DAY_MS).toISOString(),
  }));
  return accept(database.deps, { projectId, kind: 'server' }, { events });
};

const definition = Definition.parse({
  where: {
    kind: 'all',
    of: [
      ordered(),
      ordered(3),
      {
        kind: 'event',
        event: 'order_completed',
        where: [{ property: 'seats', test: { is: 'greater', value: 4 } }],
      },
    ],
  },
});

const open = (projectId: string) =>
  inProject(database.deps, projectId, async (scope) => {
    const counted = listCounted([definition]);
    await insertProject(scope);
    await insertConditions(scope, counted);
    await setConditions(
      scope,
      counted.map(({ conditionId }) => conditionId),
      { from: 'new', to: 'filling' },
    );
  });
const fill = (projectId: string, eventsMax: number) =>
  inProject(database.deps, projectId, (scope) => fillCounters(scope, eventsMax));

beforeAll(() => database.owner.query('analyze'));

test('what waits is left to whoever processes it, and what comes later too', async () => {
  const projectId = newId();
  await post(projectId);
  await workOn(database, projectId);
  await post(projectId);
  await open(projectId);
  while (await fill(projectId, 7));
  await post(projectId);
  for (let round = 0; round < 3; round += 1) await workOn(database, projectId);
  const { rows, expected } = await recount(database, projectId);
  expect(rows).toEqual(expected);
  expect(rows.length).toBeGreaterThan(20);
});

test('each event is counted once while others accept and process events of the project', async () => {
  const projectId = newId();
  for (let flush = 0; flush < 20; flush += 1) await post(projectId);
  await workOn(database, projectId);
  await open(projectId);
  let isFilling = true;
  const writing = async () => {
    for (let flush = 0; flush < 30; flush += 1) await post(projectId);
  };
  const working = async () => {
    while (isFilling) await workOn(database, projectId);
  };
  const filling = async () => {
    while (await fill(projectId, 23));
    isFilling = false;
  };
  await Promise.all([writing(), writing(), working(), working(), working(), filling()]);
  const isLeft = async () => {
    const { rows } = await database.owner.query(
      'select from ingest.pending where project_id = $1 limit 1',
      [projectId],
    );
    return rows.length > 0;
  };
  while (await isLeft()) await workOn(database, projectId);
  const { rows, expected } = await recount(database, projectId);
  expect(rows).toEqual(expected);
  expect(expected.length).toBeGreaterThan(20);
}, 60_000);

test('events that were being processed when the segment was made are counted, and once', async () => {
  const projectId = newId();
  // So that everybody is known, and whoever processes them again holds nothing that making a segment waits for.
  await post(projectId);
  await workOn(database, projectId);
  await post(projectId);
  const step = { looked: Promise.withResolvers<void>(), goOn: Promise.withResolvers<void>() };
  const processing = takeFlushes((work) => inProject(database.deps, projectId, work), {
    process: async (scope, flushIds) => {
      await seeEvents(scope, flushIds);
      await countEvents(scope, flushIds);
      step.looked.resolve();
      await step.goOn.promise;
    },
    finish: () => Promise.resolve(),
  });
  await step.looked.promise;
  await create(database, projectId, ordered());
  const refreshing = refreshSegments(database.deps, projectId, { signal: NEVER });
  await untilWaiting(database);
  step.goOn.resolve();
  await Promise.all([processing, refreshing]);
  const { rows, expected } = await recount(database, projectId);
  expect(rows).toEqual(expected);
  expect(rows.length).toBeGreaterThan(5);
});
