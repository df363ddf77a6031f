import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { USE_KEPT_DAYS } from '../../src/quotas/schema.ts';
import pruneUse from '../../tasks/quotas/prune_use.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();

test('deletes the use of days past the bound, of every project, and none of the others', async () => {
  const projects = [
    await createProject(database.deps, 'one'),
    await createProject(database.deps, 'two'),
  ];
  for (const { project_id } of projects)
    for (const daysAgo of [0, USE_KEPT_DAYS, USE_KEPT_DAYS + 1, USE_KEPT_DAYS + 100])
      await database.owner.query(
        `insert into quotas.key_days (project_id, key_id, day, counted_by, new_profiles, stored_bytes)
        values ($1, gen_random_uuid(), (now() at time zone 'utc')::date - $2::int, 'accept', 0, 1)`,
        [project_id, daysAgo],
      );
  for (let time = 0; time < 2; time += 1) {
    await pruneUse(asWorker(database))({}, undefined as never);
    const { rows } = await database.owner.query(
      `select (now() at time zone 'utc')::date - day as days_ago from quotas.key_days order by 1`,
    );
    expect(rows.map(({ days_ago }) => days_ago)).toEqual([0, 0, USE_KEPT_DAYS, USE_KEPT_DAYS]);
  }
});
