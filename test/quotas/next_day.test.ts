// Quotas end with the day of the database's clock, by UTC.
import { expect, test } from 'vitest';
import { pruneUse } from '../../src/quotas/quotas.ts';
import { USE_KEPT_DAYS } from '../../src/quotas/schema.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { makeLimited, testProcess } from './api_with_quotas.ts';

const database = testDatabase();
const clock = virtualClock(database);
const TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;

const api = testProcess(database);

const midnight = (days = 0): Date => {
  const day = new Date(Date.now() + days * DAY_MS);
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()));
};

test(
  'Retry-After says the seconds to the next UTC midnight; then the quotas are whole again',
  { timeout: TIMEOUT_MS },
  async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 1 });
    const identify = (external_id: string) => api.post('/v1/identify', key, { external_id });
    const view = (anonymous_id: string) =>
      api.post('/v1/events', key, { event: 'page_viewed', anonymous_id });
    await clock.set(new Date(midnight(1).getTime() - 3_600_000));
    expect((await identify('ann')).status).toBe(202);
    for (const refused of [await identify('ben'), await view('device')]) {
      expectRefusal(refused, 'quota_exceeded');
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(3_500);
      expect(seconds).toBeLessThanOrEqual(3_600);
    }
    await clock.set(midnight(1));
    expect((await identify('ben')).status).toBe(202);
    expectRefusal(await identify('bob'), 'quota_exceeded');
    await clock.set(midnight(2));
    await until('the new day is read', async () => (await view('device')).status === 202);

    const { rows } = await database.owner.query(
      `select new_profiles from quotas.key_days
      where project_id = $1 and counted_by = 'identify' order by day`,
      [project_id],
    );
    expect(rows).toEqual([{ new_profiles: 1 }, { new_profiles: 1 }]);

    // Days are kept for a while, then pruned.
    await clock.set(midnight(USE_KEPT_DAYS + 1));
    expect(await pruneUse(database.deps, project_id)).toBe(1);
    await clock.set(midnight(USE_KEPT_DAYS + 2));
    expect(await pruneUse(database.deps, project_id)).toBe(1);
    expect(await pruneUse(database.deps, project_id)).toBe(0);
  },
);
