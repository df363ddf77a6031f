// Everybody in a segment is started by hand: piece by piece, once, as often as re_entry allows.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { archive, pause, resume } from '../../src/automations/life.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { cancelSegmentStart, startSegment } from '../../src/automations/segment_start.ts';
import { findSegmentStart } from '../../src/automations/segment_start_queries.ts';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { changeAddresses } from '../../src/profiles/profiles.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { listWork } from '../../src/worker/work.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { activation } from './doors.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
let segmentId: string;
const people = Array.from({ length: 7 }, (_, at) => `p${at}`);
beforeEach(async () => {
  world = withSegments(database);
  for (const external_id of people)
    await identify(database.deps, world.caller, { external_id, traits: { plan: 'pro' } });
  segmentId = await world.segment(onPlan('pro'));
  await world.work();
});

const begin = (automationId: string, startId = newId()) =>
  world.within(async (scope) =>
    startSegment(scope, await getAutomation(scope, automationId), { startId, segmentId }),
  );
const next = (startId: string, peopleMax = 3) =>
  world.within((scope) => automations.startNextPeople(scope, startId, peopleMax));
const finish = async (startId: string): Promise<void> => {
  while ((await next(startId)).isMore);
};
const stand = (startId: string) => world.within((scope) => findSegmentStart(scope, startId));

test('starts everybody in it, piece by piece, and says how far it has come', async () => {
  const id = await world.live({});
  const { start_id: startId } = await begin(id);
  expect(await next(startId)).toEqual({ started: 3, isMore: true });
  expect(await stand(startId)).toMatchObject({ status: 'running', examined: 3, started: 3 });
  await finish(startId);
  await world.settle();
  expect(await stand(startId)).toMatchObject({
    status: 'done',
    examined: 7,
    started: 7,
    kept_out: 0,
    ended_at: expect.any(Date),
  });
  expect((await world.whoRan()).toSorted()).toEqual(people);
});

test('asked again with the same id is the same start, and starts nobody again', async () => {
  const id = await world.live({});
  const startId = newId();
  await begin(id, startId);
  await begin(id, startId);
  await finish(startId);
  await finish(startId);
  expect(await world.whoRan()).toHaveLength(people.length);
  // Another request is another start.
  await finish((await begin(id)).start_id);
  expect(await world.whoRan()).toHaveLength(2 * people.length);
});

test('keeps out whom re_entry does, and counts them', async () => {
  const id = await world.live({ settings: { re_entry: 'once' } });
  await finish((await begin(id)).start_id);
  const { start_id: again } = await begin(id);
  await finish(again);
  expect(await stand(again)).toMatchObject({ examined: 7, started: 0, kept_out: 7 });
});

test('by workers at once, starts each once', async () => {
  const { start_id: startId } = await begin(await world.live({}));
  const worker = async () => {
    for (let isMore = true; isMore;) ({ isMore } = await next(startId, 2));
  };
  await Promise.all([worker(), worker(), worker()]);
  expect((await world.whoRan()).toSorted()).toEqual(people);
});

test('after a crash in a piece goes on with that piece', async () => {
  const { start_id: startId } = await begin(await world.live({}));
  const crash = new Error('the process is gone');
  const crashing = world.within(async (scope) => {
    await automations.startNextPeople(scope, startId, 3);
    throw crash;
  });
  await expect(crashing).rejects.toBe(crash);
  await finish(startId);
  expect((await world.whoRan()).toSorted()).toEqual(people);
});

test('cancelled, starts nobody more; who was started goes on', async () => {
  const { start_id: startId } = await begin(await world.live({}));
  await next(startId);
  const cancelled = await world.within((scope) => cancelSegmentStart(scope, startId));
  expect(cancelled).toMatchObject({ status: 'cancelled', started: 3 });
  await finish(startId);
  await world.settle();
  expect((await world.runs()).map(({ outcome }) => outcome)).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
});

test('waits while the automation is paused, and ends when it is archived', async () => {
  const id = await world.live({});
  const { start_id: startId } = await begin(id);
  await world.within((scope) => pause(scope, id));
  expect(await next(startId)).toEqual({ started: 0, isMore: false });
  await world.within((scope) => resume(scope, id, activation));
  expect(await next(startId)).toEqual({ started: 3, isMore: true });
  await world.within((scope) => archive(scope, id));
  await finish(startId);
  expect(await stand(startId)).toMatchObject({ status: 'cancelled', started: 3 });
});

test('starts the suppressed only where the segment has them', async () => {
  const email = 'p0@example.com';
  await world.tell('p0', { email, plan: 'pro' });
  await world.within((scope) =>
    changeAddresses(scope, [email], (inner) =>
      suppress(inner, { email, reason: 'manual', source: 'test' }),
    ),
  );
  await world.work();
  const { start_id: startId } = await begin(await world.live({}));
  await finish(startId);
  expect((await world.whoRan()).toSorted()).toEqual(people.slice(1));
});

test('is for active automations that are started by hand, and segments that are there', async () => {
  const trigger = { kind: 'event' as const, event: 'trial_started' };
  await expect(begin(await world.live({ trigger }))).rejects.toThrow('automation_state');
  const id = await world.live({}, 'Other');
  segmentId = newId();
  await expect(begin(id)).rejects.toThrow('invalid_request');
});

test('is left alone by the sweeper while its automation is paused, and found once that is resumed', async () => {
  const id = await world.live({});
  const { start_id: startId } = await begin(id);
  await database.owner.query(
    "update automations.segment_starts set requested_at = now() - interval '1 hour' where start_id = $1",
    [startId],
  );
  const client = await connectAs(database, 'trunkline_queue');
  const found = async () =>
    (await listWork(client, 2)).segmentStarts.some(({ start_id }) => start_id === startId);
  expect(await found()).toBe(true);
  await world.within((scope) => pause(scope, id));
  expect(await found()).toBe(false);
  await world.within((scope) => resume(scope, id, activation));
  expect(await found()).toBe(true);
});
