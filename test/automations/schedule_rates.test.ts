// A schedule with a rate starts people evenly, and never more in an hour than it says.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { pause, resume } from '../../src/automations/life.ts';
import { Definition } from '../../src/automations/schema.ts';
import { PER_HOUR_MAX } from '../../src/automations/schedule_schema.ts';
import { showStart } from '../../src/automations/segment_start_routes.ts';
import { findSegmentStart } from '../../src/automations/segment_start_queries.ts';
import { identify } from '../../src/profiles/identify.ts';
import { listWork } from '../../src/worker/work.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { activation } from './doors.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
const clock = virtualClock(database);
let world: ReturnType<typeof withSegments>;
let segmentId: string;
const NINE = new Date('2040-01-10T09:00:00Z');
const MINUTE_MS = 60_000;
const PEOPLE = 13;
const plus = (ms: number) => new Date(NINE.getTime() + ms);

beforeEach(async () => {
  world = withSegments(database);
  for (let at = 0; at < PEOPLE; at += 1)
    await identify(database.deps, world.caller, { external_id: `p${at}`, traits: { plan: 'pro' } });
  segmentId = await world.segment(onPlan('pro'));
  await world.work();
  await clock.set(plus(-1));
});

const definition = (per_hour: number, re_entry: 'once' | 'every_time' = 'every_time') => ({
  trigger: {
    kind: 'schedule' as const,
    segment_id: segmentId,
    start: '2040-01-10T09:00',
    per_hour,
  },
  settings: { re_entry },
  entry: 'note',
  steps: { note: note() },
});
const begin = async (per_hour: number) => {
  const automationId = await world.live(definition(per_hour));
  await clock.set(NINE);
  const { startId } = await world.within(automations.startScheduled);
  if (startId === null) throw new Error('nothing began');
  return { automationId, startId };
};
const next = (startId: string) =>
  world.within((scope) => automations.startNextPeople(scope, startId));
const shown = (startId: string) =>
  world.within(async (scope) => {
    const start = await findSegmentStart(scope, startId);
    if (start === null) throw new Error('there is no start');
    return showStart(scope, start);
  });
const isFound = async (startId: string): Promise<boolean> => {
  const client = await connectAs(database, 'trunkline_queue');
  return (await listWork(client, 2)).segmentStarts.some(({ start_id }) => start_id === startId);
};
/** Looks as often as the sweeper does, and notes in which second how many people were started. */
const follow = async (
  startId: string,
  seconds: number,
  everySeconds: number,
): Promise<number[]> => {
  const at: number[] = [];
  for (let second = 0; second <= seconds; second += everySeconds) {
    await clock.set(plus(second * 1_000));
    const { started } = await next(startId);
    for (let one = 0; one < started; one += 1) at.push(second);
  }
  return at;
};

test('starts one after the other, evenly, and says when it will have started the last', async () => {
  const { startId } = await begin(60);
  expect(await next(startId)).toEqual({ started: 1, isMore: false });
  expect(await next(startId)).toEqual({ started: 0, isMore: false });
  // Twelve are left: the last comes twelve minutes after the first.
  expect(await shown(startId)).toMatchObject({
    per_hour: 60,
    status: 'running',
    started: 1,
    ends_at: plus(12 * MINUTE_MS).toISOString(),
  });
  await clock.set(plus(MINUTE_MS - 1));
  expect(await isFound(startId)).toBe(false);
  expect(await next(startId)).toEqual({ started: 0, isMore: false });
  await clock.set(plus(MINUTE_MS));
  expect(await isFound(startId)).toBe(true);
  expect(await next(startId)).toEqual({ started: 1, isMore: false });
});

test('never starts more in an hour than its rate and one piece, and all in the end', async () => {
  const { startId } = await begin(6);
  const at = await follow(startId, 3 * 3_600, 100);
  expect(at).toHaveLength(PEOPLE);
  for (const from of at)
    expect(at.filter((one) => one >= from && one < from + 3_600).length).toBeLessThanOrEqual(7);
  const gaps = at.slice(1).map((one, place) => one - (at[place] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(590);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(700);
  expect(await shown(startId)).toMatchObject({ status: 'done', started: PEOPLE, ends_at: null });
});

test('what a pause or an outage held up is not caught up at once', async () => {
  const { automationId, startId } = await begin(60);
  await next(startId);
  await world.within((scope) => pause(scope, automationId));
  await clock.set(plus(120 * MINUTE_MS));
  expect(await next(startId)).toEqual({ started: 0, isMore: false });
  await world.within((scope) => resume(scope, automationId, activation));
  expect(await next(startId)).toMatchObject({ started: 1 });
  expect(await next(startId)).toMatchObject({ started: 0 });
});

test('people that re_entry keeps out take no part of the rate', async () => {
  const trigger = { ...definition(60).trigger, rule: 'FREQ=HOURLY;COUNT=2' };
  await world.live({ ...definition(60, 'once'), trigger });
  await clock.set(NINE);
  const { startId: first } = await world.within(automations.startScheduled);
  for (let minute = 0; minute < PEOPLE; minute += 1) {
    await clock.set(plus(minute * MINUTE_MS));
    await next(first ?? '');
  }
  await clock.set(plus(60 * MINUTE_MS));
  const { startId: second } = await world.within(automations.startScheduled);
  for (let isMore = true; isMore;) ({ isMore } = await next(second ?? ''));
  expect(await shown(second ?? '')).toMatchObject({ status: 'done', started: 0, kept_out: PEOPLE });
});

test('a piece of a high rate is a minute of it, and the rate has a bound', async () => {
  const { startId } = await begin(600);
  expect(await next(startId)).toMatchObject({ started: 10 });
  await clock.set(plus(MINUTE_MS));
  expect(await next(startId)).toEqual({ started: 3, isMore: false });
  expect(await shown(startId)).toMatchObject({ status: 'done' });
  const isGood = (per_hour: number) => Definition.safeParse(definition(per_hour)).success;
  expect([1, PER_HOUR_MAX].map(isGood)).toEqual([true, true]);
  expect([0, PER_HOUR_MAX + 1, 1.5].map(isGood)).toEqual([false, false, false]);
});

test('starts members of the moment when it begins, and not people who enter later', async () => {
  const { startId } = await begin(600);
  await next(startId);
  await clock.set(plus(MINUTE_MS / 2));
  await identify(database.deps, world.caller, { external_id: 'late', traits: { plan: 'pro' } });
  await world.work();
  await clock.set(plus(MINUTE_MS));
  await next(startId);
  expect(await shown(startId)).toMatchObject({ status: 'done', examined: PEOPLE, started: PEOPLE });
});
