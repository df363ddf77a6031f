import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const use = (projectId: string) => database.owner.query('select base.use_project($1)', [projectId]);
const used = async (): Promise<string | null> =>
  (await database.owner.query(`select current_setting('trunkline.project_id', true) as id`)).rows[0]
    .id;

test('the project is used until the transaction ends', async () => {
  const projectId = newId();
  await database.owner.query('begin');
  await use(projectId);
  expect(await used()).toBe(projectId);
  await database.owner.query('commit');
  expect(await used()).toBeFalsy();
});

test('what is no id of a project is refused', async () => {
  for (const text of ['', 'x', `${newId()}'`]) await expect(use(text)).rejects.toThrow(/uuid/);
});

test('as one statement it costs no call: the planner puts the setting in its place', async () => {
  const { rows } = await database.owner.query<{ 'QUERY PLAN': string }>(
    `explain (verbose) select base.use_project('${newId()}')`,
  );
  expect(rows.map((row) => row['QUERY PLAN']).join()).toContain('set_config(');
});
