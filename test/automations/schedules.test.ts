// Occurrences of a schedule start all members of a segment: each once, on time or not at all.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { showAutomation } from '../../src/automations/acts.ts';
import { explain } from '../../src/automations/explain.ts';
import {
  activate,
  addVersion,
  archive,
  deleteAutomation,
  pause,
  resume,
} from '../../src/automations/life.ts';
import { findPersonId } from '../../src/automations/person_ref.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { OCCURRENCE_LATE_MAX_MS } from '../../src/automations/schedule.ts';
import { Definition } from '../../src/automations/schema.ts';
import { cancelSegmentStart } from '../../src/automations/segment_start.ts';
import { listSegmentStarts } from '../../src/automations/segment_start_queries.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { identify } from '../../src/profiles/identify.ts';
import { listWork } from '../../src/worker/work.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { activation, doors } from './doors.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
const clock = virtualClock(database);
let world: ReturnType<typeof withSegments>;
let segmentId: string;
const people = ['p0', 'p1', 'p2'];
/** Nine in Berlin on a day in winter. */
const NINE = new Date('2040-01-10T08:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const plus = (ms: number, at = NINE) => new Date(at.getTime() + ms);

beforeEach(async () => {
  world = withSegments(database);
  for (const external_id of people)
    await identify(database.deps, world.caller, { external_id, traits: { plan: 'pro' } });
  segmentId = await world.segment(onPlan('pro'));
  await world.work();
  await clock.set(plus(-HOUR_MS));
});

const definition = (given: object = {}, settings: object = {}) => ({
  trigger: {
    kind: 'schedule' as const,
    segment_id: segmentId,
    start: '2040-01-10T09:00',
    ...given,
  },
  settings: { re_entry: 'every_time' as const, timezone: 'Europe/Berlin', ...settings },
  entry: 'note',
  steps: { note: note() },
});
const live = (given: object = {}, settings: object = {}) => world.live(definition(given, settings));
const begin = () => world.within(automations.startScheduled);
/** Works until no occurrence is due, and no person is left to start. */
const work = async (): Promise<void> => {
  for (let isMore = true; isMore;) {
    const began = await begin();
    ({ isMore } = began);
    const { startId } = began;
    if (startId !== null)
      while ((await world.within((scope) => automations.startNextPeople(scope, startId))).isMore);
  }
  await world.settle();
};
const starts = (id: string) =>
  world.within((scope) => listSegmentStarts(scope, id, { limit: 50, beforeId: null }));
const stands = async (id: string) =>
  (await starts(id)).map(({ occurrence, status, started, reason }) => [
    occurrence,
    status,
    started,
    reason,
  ]);
const isFound = async (): Promise<boolean> => {
  const client = await connectAs(database, 'trunkline_queue');
  return (await listWork(client, 2)).occurrences.includes(world.projectId);
};

test('starts all members at its time, once', async () => {
  const id = await live();
  expect(await isFound()).toBe(false);
  await clock.set(plus(-1));
  await work();
  expect(await stands(id)).toEqual([]);
  await clock.set(NINE);
  expect(await isFound()).toBe(true);
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'done', 3, null]]);
  expect((await world.whoRan()).toSorted()).toEqual(people);
  expect(await isFound()).toBe(false);
  await clock.set(plus(365 * DAY_MS));
  await work();
  expect(await world.whoRan()).toHaveLength(3);
});

test('repeats by its rule, with the members of that moment', async () => {
  const id = await live({ rule: 'FREQ=DAILY;COUNT=2' });
  await clock.set(NINE);
  await work();
  await clock.reset();
  await world.tell('p3', { plan: 'pro' });
  await world.tell('p0', { plan: 'free' });
  await clock.set(plus(DAY_MS));
  await work();
  expect(await stands(id)).toEqual([
    ['2040-01-11T09:00', 'done', 3, null],
    ['2040-01-10T09:00', 'done', 3, null],
  ]);
  expect((await world.whoRan()).toSorted()).toEqual(['p0', 'p1', 'p1', 'p2', 'p2', 'p3']);
});

test('re_entry holds: once starts each person once, however often it comes', async () => {
  const id = await live({ rule: 'FREQ=DAILY' }, { re_entry: 'once' });
  for (const day of [0, 1]) {
    await clock.set(plus(day * DAY_MS));
    await work();
  }
  expect((await starts(id)).map(({ started, kept_out }) => [started, kept_out])).toEqual([
    [0, 3],
    [3, 0],
  ]);
});

test('by workers at once, and after a crash, each occurrence starts once', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await clock.set(NINE);
  const crash = new Error('the process is gone');
  const crashing = world.within(async (scope) => {
    await automations.startScheduled(scope);
    throw crash;
  });
  await expect(crashing).rejects.toBe(crash);
  expect(await starts(id)).toEqual([]);
  const begun = await Promise.all([begin(), begin(), begin()]);
  expect(begun.filter(({ startId }) => startId !== null)).toHaveLength(1);
  expect(await starts(id)).toHaveLength(1);
});

test('an occurrence that is an hour late starts people, and a later one does not', async () => {
  const id = await live({ rule: 'FREQ=DAILY;COUNT=4' });
  await clock.set(plus(OCCURRENCE_LATE_MAX_MS));
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'done', 3, null]]);
  await clock.set(plus(3 * DAY_MS));
  await work();
  expect(await stands(id)).toEqual([
    ['2040-01-13T09:00', 'done', 3, null],
    ['2040-01-12T09:00', 'cancelled', 0, 'late'],
    ['2040-01-11T09:00', 'cancelled', 0, 'late'],
    ['2040-01-10T09:00', 'done', 3, null],
  ]);
});

test('a millisecond past the hour starts no person', async () => {
  const id = await live();
  await clock.set(plus(OCCURRENCE_LATE_MAX_MS + 1));
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'cancelled', 0, 'late']]);
  expect(await world.whoRan()).toEqual([]);
});

test('paused, starts no person; resumed within the hour it does, later it continues with the next', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await world.within((scope) => pause(scope, id));
  await clock.set(plus(HOUR_MS / 2));
  expect(await isFound()).toBe(false);
  await work();
  expect(await stands(id)).toEqual([]);
  await world.within((scope) => resume(scope, id, activation));
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'done', 3, null]]);
  await world.within((scope) => pause(scope, id));
  await clock.set(plus(DAY_MS + 2 * HOUR_MS));
  await world.within((scope) => resume(scope, id, activation));
  await clock.set(plus(2 * DAY_MS));
  await work();
  expect(await stands(id)).toEqual([
    ['2040-01-12T09:00', 'done', 3, null],
    ['2040-01-11T09:00', 'cancelled', 0, 'late'],
    ['2040-01-10T09:00', 'done', 3, null],
  ]);
});

test('a schedule that is over can be paused and resumed, and starts no person again', async () => {
  const id = await live();
  await clock.set(NINE);
  await work();
  await world.within((scope) => pause(scope, id));
  await world.within((scope) => resume(scope, id, activation));
  await work();
  expect(await world.whoRan()).toHaveLength(3);
});

test('archived or deleted, starts no person', async () => {
  const archived = await live();
  const deleted = await live();
  await world.within((scope) => archive(scope, archived));
  await world.within((scope) => deleteAutomation(scope, deleted));
  await clock.set(NINE);
  expect(await isFound()).toBe(false);
  await work();
  expect(await stands(archived)).toEqual([]);
  expect(await world.whoRan()).toEqual([]);
});

const follow = (id: string, given: object) =>
  world.within(async (scope) => {
    const { latest_version: after } = await getAutomation(scope, id);
    const next = { definition: Definition.parse(definition(given)), after };
    await addVersion(scope, id, next, doors);
    return activate(scope, id, null, activation);
  });
const shown = (id: string) =>
  world.within(
    async (scope) => (await showAutomation(scope, await getAutomation(scope, id))).occurrences,
  );

test('a new version has the times of its own', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await follow(id, { start: '2040-01-10T09:30', rule: 'FREQ=DAILY' });
  await clock.set(NINE);
  await work();
  expect(await stands(id)).toEqual([]);
  await clock.set(plus(HOUR_MS / 2));
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:30', 'done', 3, null]]);
});

test('a new version that comes between an occurrence and its start takes the occurrence over, once', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await clock.set(plus(1_000));
  await follow(id, { rule: 'FREQ=DAILY;COUNT=9' });
  await work();
  await follow(id, { rule: 'FREQ=DAILY;COUNT=8' });
  await work();
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'done', 3, null]]);
});

test('a version whose schedule is over is refused, and one without a schedule ends it', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await clock.set(plus(-1_000));
  await expect(follow(id, { start: '2039-01-10T09:00' })).rejects.toThrow('invalid_request');
  await world.within(async (scope) => {
    const manual = Definition.parse({ ...definition(), trigger: { kind: 'manual' } });
    await addVersion(scope, id, { definition: manual, after: 1 }, doors);
    await activate(scope, id, null, activation);
  });
  await clock.set(NINE);
  await work();
  expect(await stands(id)).toEqual([]);
});

test('a start that has begun can be cancelled, and starts no more people', async () => {
  const id = await live({ rule: 'FREQ=DAILY' });
  await clock.set(NINE);
  const { startId } = await begin();
  if (startId === null) throw new Error('nothing began');
  await world.within((scope) => automations.startNextPeople(scope, startId, 2));
  await world.within((scope) => cancelSegmentStart(scope, startId));
  await world.within((scope) => automations.startNextPeople(scope, startId, 2));
  expect(await stands(id)).toEqual([['2040-01-10T09:00', 'cancelled', 2, null]]);
});

test('shows its next five occurrences, with the clocks of its zone', async () => {
  const id = await live({ rule: 'FREQ=MONTHLY;BYMONTHDAY=10' });
  expect(await shown(id)).toEqual([
    { occurrence: '2040-01-10T09:00', at: '2040-01-10T08:00:00.000Z' },
    { occurrence: '2040-02-10T09:00', at: '2040-02-10T08:00:00.000Z' },
    { occurrence: '2040-03-10T09:00', at: '2040-03-10T08:00:00.000Z' },
    { occurrence: '2040-04-10T09:00', at: '2040-04-10T07:00:00.000Z' },
    { occurrence: '2040-05-10T09:00', at: '2040-05-10T07:00:00.000Z' },
  ]);
  await world.within((scope) => archive(scope, id));
  expect(await shown(id)).toEqual([]);
});

test('a simulation of a schedule is refused, and an explanation says that no occurrence had the person', async () => {
  const id = await live();
  const kept = await world.within((scope) => getAutomation(scope, id));
  await expect(
    simulate(database.deps, world.projectId, kept, { days: 30, version: 1 }),
  ).rejects.toThrow('invalid_request');
  const { stopped_by } = await world.within(async (scope) =>
    explain(scope, kept, { profileId: (await findPersonId(scope, 'external_id:p0')) ?? '' }),
  );
  expect(stopped_by?.decision).toBe('not_in_occurrence');
});
