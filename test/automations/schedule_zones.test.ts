// A schedule by the clock of each person: nine in the morning is nine in their own zone.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { moveInside, pause, resume } from '../../src/automations/life.ts';
import { explain } from '../../src/automations/explain.ts';
import { findPersonId } from '../../src/automations/person_ref.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { OCCURRENCE_LATE_MAX_MS } from '../../src/automations/schedule.ts';
import { Definition } from '../../src/automations/schema.ts';
import { listSegmentStarts } from '../../src/automations/segment_start_queries.ts';
import { identify } from '../../src/profiles/identify.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { activation } from './doors.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
const clock = virtualClock(database);
let world: ReturnType<typeof withSegments>;
let segmentId: string;
/** People, their trait of the zone, and when it is nine there on 10 January 2040. */
const PEOPLE = {
  kiritimati: ['Pacific/Kiritimati', '2040-01-09T19:00:00.000Z'],
  sydney: ['Australia/Sydney', '2040-01-09T22:00:00.000Z'],
  none: [null, '2040-01-10T08:00:00.000Z'],
  wrong: ['Berlin', '2040-01-10T08:00:00.000Z'],
  york: ['America/New_York', '2040-01-10T14:00:00.000Z'],
} as const;
const HOUR_MS = 3_600_000;
const FIRST = new Date('2040-01-09T19:00:00Z');
const LAST = new Date('2040-01-10T21:00:00Z');
const plus = (ms: number, at = FIRST) => new Date(at.getTime() + ms);

beforeEach(async () => {
  world = withSegments(database);
  for (const [external_id, [timezone]] of Object.entries(PEOPLE)) {
    const traits = { plan: 'pro', ...(timezone === null ? {} : { timezone }) };
    await identify(database.deps, world.caller, { external_id, traits });
  }
  segmentId = await world.segment(onPlan('pro'));
  await world.work();
  await clock.set(plus(-48 * HOUR_MS));
});

const definition = (given: object = {}) => ({
  trigger: {
    kind: 'schedule' as const,
    segment_id: segmentId,
    start: '2040-01-10T09:00',
    zone: 'person' as const,
    ...given,
  },
  settings: { re_entry: 'every_time' as const, timezone: 'Europe/Berlin' },
  entry: 'note',
  steps: { note: note() },
});
const work = async (): Promise<void> => {
  for (let isMore = true; isMore;) {
    const began = await world.within(automations.startScheduled);
    ({ isMore } = began);
    const { startId } = began;
    if (startId !== null)
      while ((await world.within((scope) => automations.startNextPeople(scope, startId))).isMore);
  }
  await world.settle();
};
const ended = async (): Promise<string[]> =>
  (await world.runs())
    .flatMap(({ who, outcome }) => (outcome === 'completed' ? [who] : []))
    .toSorted();
const stands = async (id: string) =>
  (await world.within((scope) => listSegmentStarts(scope, id, { limit: 50, beforeId: null }))).map(
    ({ status, started, kept_out, reason }) => [status, started, kept_out, reason],
  );
const explained = (id: string, who: string) =>
  world.within(async (scope) => {
    const profileId = (await findPersonId(scope, `external_id:${who}`)) ?? '';
    return explain(scope, await getAutomation(scope, id), { profileId });
  });

test('each person comes at the time of their own zone, else at that of the automation', async () => {
  const id = await world.live(definition());
  await clock.set(plus(-1));
  await work();
  expect(await stands(id)).toEqual([]);
  const expected: string[] = [];
  const byTime = Object.entries(PEOPLE).toSorted(([, [, a]], [, [, b]]) => (a < b ? -1 : 1));
  for (const [who, [, at]] of byTime) {
    if (!expected.includes(who)) {
      await clock.set(plus(-1, new Date(at)));
      await work();
      expect(await ended()).toEqual(expected.toSorted());
    }
    await clock.set(new Date(at));
    await work();
    expected.push(
      ...byTime.flatMap(([name, [, own]]) =>
        own === at && !expected.includes(name) ? [name] : [],
      ),
    );
    expect(await ended()).toEqual(expected.toSorted());
  }
  expect(await stands(id)).toEqual([['done', 5, 0, null]]);
});

test('people whose time was less than an hour ago start at once, others are left out', async () => {
  const id = await world.live(definition());
  await clock.set(plus(OCCURRENCE_LATE_MAX_MS, new Date(PEOPLE.sydney[1])));
  await work();
  expect(await stands(id)).toEqual([['done', 4, 1, null]]);
  expect(await ended()).toEqual(['sydney']);
  expect((await explained(id, 'kiritimati')).stopped_by).toMatchObject({
    decision: 'occurrence_late',
    detail: { due_at: PEOPLE.kiritimati[1] },
  });
  expect((await explained(id, 'sydney')).stopped_by).toBeNull();
  expect((await explained(id, 'york')).decisions).toMatchObject([
    { decision: 'entered', detail: { occurrence: '2040-01-10T09:00', due_at: PEOPLE.york[1] } },
  ]);
});

test('a schedule that is activated between the zones still starts those who have the time ahead', async () => {
  await clock.set(plus(0, new Date(PEOPLE.york[1])));
  const id = await world.live(definition());
  await work();
  expect(await stands(id)).toEqual([['done', 1, 4, null]]);
  expect(await ended()).toEqual(['york']);
});

test('an hour after the last zone an occurrence is late for all', async () => {
  const id = await world.live(definition());
  await clock.set(plus(OCCURRENCE_LATE_MAX_MS + 1, LAST));
  await work();
  expect(await stands(id)).toEqual([['cancelled', 0, 0, 'late']]);
});

test('before its time a run begins by nothing else: not by a move, and not by a resume', async () => {
  const id = await world.live(definition());
  await clock.set(FIRST);
  await work();
  await world.within((scope) => moveInside(scope, id));
  await world.within((scope) => pause(scope, id));
  await world.within((scope) => resume(scope, id, activation));
  await clock.set(plus(HOUR_MS));
  await work();
  expect(await ended()).toEqual(['kiritimati']);
  await clock.set(new Date(PEOPLE.york[1]));
  await work();
  expect(await ended()).toHaveLength(5);
});

test('a rate goes by the clock of the automation alone', () => {
  const { error } = Definition.safeParse(definition({ per_hour: 10 }));
  expect(error?.issues).toMatchObject([{ path: ['trigger', 'per_hour'] }]);
});
