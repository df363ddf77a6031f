import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

const limit = async (projectId: string, limits: object, hasBegun = false) => {
  const { rows } = await database.owner.query<{ stop: string | null; seconds: number | null }>(
    `select stop, extract(epoch from wait_until - timestamptz '2026-01-31T12:00:00Z')::int as seconds
     from delivery.limit_by_person($1, gen_random_uuid(), gen_random_uuid(), '{}', $2, $3, '2026-01-31T12:00:00Z')`,
    [projectId, limits, hasBegun],
  );
  return rows[0];
};
const CAP = { frequency_cap: { sends: 1, per: 'P1D', of: 'project', over: 'defer' } };

test('quiet hours come first, then a frequency cap; without either nothing stops', async () => {
  const { projectId } = budgeted(database);
  expect(await limit(projectId, { zone: 'UTC' })).toEqual({ stop: null, seconds: null });
  const quiet = { quiet_hours: { from: '11:00', to: '13:00' } };
  expect(await limit(projectId, { ...quiet, ...CAP }, true)).toEqual({
    stop: 'quiet_hours',
    seconds: 3_600,
  });
  expect(await limit(projectId, CAP)).toEqual({ stop: null, seconds: null });
});

test('an email to a person to whom another begins just now waits a moment', async () => {
  const { projectId } = budgeted(database);
  expect(await limit(projectId, CAP, true)).toEqual({ stop: 'frequency_cap', seconds: 10 });
});
