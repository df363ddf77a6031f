// People enter and leave segments about coming days by the passing of time alone, within the first hour of the day.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { toDate } from '../../src/segments/moments.ts';
import type { ValueTest } from '../../src/segments/value_schema.ts';
import { WAKE_SPREAD_SECONDS } from '../../src/segments/wake_queries.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { create, listKept } from './recount.ts';

const database = testDatabase();
const DAY_MS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MS);

/** A person with a date, in a project with one segment. Returns on which of the next days the person is a member. */
const daysInside = async (date: string, asked: ValueTest, days: readonly number[]) => {
  const projectId = newId();
  const where = { kind: 'trait' as const, trait: 'date', test: asked };
  const { segment_id: segmentId } = await create(database, projectId, where);
  const refreshOn = (day: number) =>
    refreshSegments(database.deps, projectId, {
      signal: NEVER,
      now: () => new Date((today + day) * DAY_MS + WAKE_SPREAD_SECONDS * 1_000),
    });
  await refreshOn(0);
  const caller = { projectId, kind: 'server' as const };
  await identify(database.deps, caller, { external_id: 'ann', traits: { date } });
  const inside: number[] = [];
  for (const day of days) {
    await refreshOn(day);
    if ((await listKept(database, segmentId)).length === 1) inside.push(day);
  }
  return inside;
};

test('three days before a date, until the day itself', async () => {
  const inside = await daysInside(
    toDate(today + 5),
    { is: 'within_next', days: 4 },
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  expect(inside).toEqual([2, 3, 4, 5]);
});

test('on an anniversary, this year and the next', async () => {
  // 29 February has its anniversary on another day.
  const day = toDate(today + 3).endsWith('02-29') ? 4 : 3;
  const [year = '', ...rest] = toDate(today + day).split('-');
  const inYear = (years: number) => [Number(year) + years, ...rest].join('-');
  const next = Math.round((Date.parse(inYear(1)) - today * DAY_MS) / DAY_MS);
  const days = [0, day - 1, day, day + 1, next - 1, next, next + 1];
  const asked = { is: 'anniversary', days: 1 } as const;
  expect(await daysInside(inYear(-30), asked, days)).toEqual([day, next]);
});
