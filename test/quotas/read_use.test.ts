import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { countUse, readUse, setQuotas } from '../../src/quotas/queries.ts';
import { NEW_PROFILES_PER_DAY, STORED_BYTES_PER_DAY } from '../../src/quotas/schema.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const read = (projectId: string, keyIds: string[]) =>
  inProject(database.deps, projectId, (scope) => readUse(scope, keyIds));

test('sums the counters of today, with a row for each key, also for one that stored nothing', async () => {
  const [projectId, one, two] = [newId(), newId(), newId()];
  const count = (keyId: string, newProfiles: number, storedBytes: number) => ({
    keyId,
    newProfiles,
    storedBytes,
  });
  await inProject(database.deps, projectId, async (scope) => {
    await countUse(scope, 'accept', [count(one, 0, 3_000_000_000)]);
    await countUse(scope, 'identify', [count(one, 2, 0)]);
    await countUse(scope, 'process', [count(one, 3, 0)]);
  });
  await database.owner.query(
    "update quotas.key_days set day = day - 1 where counted_by = 'identify' and project_id = $1",
    [projectId],
  );
  const rows = await read(projectId, [one, two]);
  expect(
    rows.map(({ key_id, new_profiles, stored_bytes }) => [key_id, new_profiles, stored_bytes]),
  ).toEqual([
    [one, 3, 3_000_000_000],
    [two, 0, 0],
  ]);
  for (const { seconds_left } of rows) {
    expect(seconds_left).toBeGreaterThan(0);
    expect(seconds_left).toBeLessThanOrEqual(86_400);
  }
});

test('the defaults hold until the project changes its quotas; null is none', async () => {
  const [projectId, key] = [newId(), newId()];
  const quotas = async () => {
    const [row] = await read(projectId, [key]);
    return [row?.new_profiles_per_day, row?.stored_bytes_per_day];
  };
  expect(await quotas()).toEqual([NEW_PROFILES_PER_DAY, STORED_BYTES_PER_DAY]);
  const set = (newProfiles: number | null, storedBytes: number | null) =>
    inProject(database.deps, projectId, (scope) => setQuotas(scope, { newProfiles, storedBytes }));
  await set(7, null);
  expect(await quotas()).toEqual([7, null]);
  await set(null, 9);
  expect(await quotas()).toEqual([null, 9]);
  expect((await read(newId(), [key]))[0]?.stored_bytes_per_day).toBe(STORED_BYTES_PER_DAY);
});
