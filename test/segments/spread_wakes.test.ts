// Windows in whole days end at midnight. The evaluation of people is spread over the hour after it.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { WAKE_SPREAD_SECONDS } from '../../src/segments/wake_queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { workOn } from '../support/work_on.ts';
import { create, listKept, ordered } from './recount.ts';

const database = testDatabase();
const DAY_MS = 86_400_000;
const PEOPLE = 60;
const today = Math.floor(Date.now() / DAY_MS);

/** People who each ordered once, in a segment of those who ordered within a day. */
const withPeople = async () => {
  const projectId = newId();
  const { segment_id: segmentId } = await create(database, projectId, ordered(1));
  const events = Array.from({ length: PEOPLE }, (_, at) =>
    newEvent({
      name: 'order_completed',
      external_id: `person-${at}`,
      occurred_at: new Date(today * DAY_MS).toISOString(),
    }),
  );
  await acceptEvents(database.deps.db, projectId, newId(), events);
  await workOn(database, projectId);
  const refreshAt = (secondsOfTomorrow: number) =>
    refreshSegments(database.deps, projectId, {
      signal: NEVER,
      now: () => new Date((today + 1) * DAY_MS + secondsOfTomorrow * 1_000),
    });
  await refreshAt(-1);
  const secondsOf = async (): Promise<number[]> => {
    const { rows } = await database.owner.query<{ wake_at: Date }>(
      'select wake_at from segments.wakeups where project_id = $1',
      [projectId],
    );
    return rows.map(({ wake_at }) => (wake_at.getTime() - (today + 1) * DAY_MS) / 1_000);
  };
  return { segmentId, refreshAt, secondsOf };
};

test('people leave at moments of their own in the hour after the window ends, and not before', async () => {
  const { segmentId, refreshAt, secondsOf } = await withPeople();
  const seconds = (await secondsOf()).toSorted((a, b) => a - b);
  expect(seconds).toHaveLength(PEOPLE);
  expect(new Set(seconds).size).toBeGreaterThan(PEOPLE / 2);
  expect(seconds[0]).toBeGreaterThanOrEqual(0);
  expect(seconds.at(-1)).toBeLessThan(WAKE_SPREAD_SECONDS);
  for (const at of [seconds[PEOPLE / 2] ?? 0, WAKE_SPREAD_SECONDS - 1]) {
    await refreshAt(at);
    const left = seconds.filter((one) => one <= at).length;
    expect(await listKept(database, segmentId)).toHaveLength(PEOPLE - left);
  }
});
