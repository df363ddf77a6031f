import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { countUse } from '../../src/quotas/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const use = (keyId: string, newProfiles: number, storedBytes = 0) => ({
  keyId,
  newProfiles,
  storedBytes,
});
const rowsOf = async (projectId: string) => {
  const { rows } = await database.owner.query(
    `select key_id, counted_by, new_profiles, stored_bytes::int, day = (now() at time zone 'utc')::date as is_today
    from quotas.key_days where project_id = $1 order by key_id, counted_by`,
    [projectId],
  );
  return rows;
};

test('adds to the row of today of each key and counter, and a key that comes twice counts twice', async () => {
  const [projectId, one, two] = [newId(), newId(), newId()];
  await inProject(database.deps, projectId, async (scope) => {
    await countUse(scope, 'accept', [use(two, 0, 10), use(one, 0, 5), use(two, 0, 1)]);
    await countUse(scope, 'process', [use(one, 3)]);
    await countUse(scope, 'process', [use(one, 4)]);
  });
  const today = { is_today: true };
  expect(await rowsOf(projectId)).toEqual([
    { key_id: one, counted_by: 'accept', new_profiles: 0, stored_bytes: 5, ...today },
    { key_id: one, counted_by: 'process', new_profiles: 7, stored_bytes: 0, ...today },
    { key_id: two, counted_by: 'accept', new_profiles: 0, stored_bytes: 11, ...today },
  ]);
});

test('two that count the same keys at once wait for each other; other counters do not wait', async () => {
  const [projectId, one, two] = [newId(), newId(), newId()];
  const count = (counter: 'accept' | 'process', keys: string[]) =>
    inProject(database.deps, projectId, (scope) =>
      countUse(
        scope,
        counter,
        keys.map((key) => use(key, 1)),
      ),
    );
  const holder = await connectTo(database, projectId);
  await holder.query('begin');
  await holder.query(
    `select quotas.count_use($1, 'process', array[$2::uuid, $3::uuid], array[1, 1], array[0, 0]::bigint[])`,
    [projectId, one, two],
  );
  const waiting = count('process', [two, one]);
  await untilWaiting(database);
  expect(await isSettled(waiting)).toBe(false);
  await count('accept', [one]);
  await holder.query('commit');
  await waiting;
  const rows = await rowsOf(projectId);
  expect(rows.map((row) => `${row.counted_by} ${row.new_profiles}`).toSorted()).toEqual([
    'accept 1',
    'process 2',
    'process 2',
  ]);
});
