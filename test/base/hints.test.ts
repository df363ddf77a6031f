import { expect, test } from 'vitest';
import { giveHints, hint } from '../../src/base/hints.ts';
import { openDb } from '../../src/base/db.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { openLog } from '../../src/base/log.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test('hints become jobs, each with its ids alone', async () => {
  await giveHints(database.deps, [
    { task: 'a/first', payload: { project_id: 'p' } },
    { task: 'a/second', payload: { project_id: 'p', provider_id: 'q' } },
  ]);
  const { rows } = await database.owner.query(`
    select identifier, payload from graphile_worker._private_jobs as job
    join graphile_worker._private_tasks as task on task.id = job.task_id order by identifier`);
  expect(rows).toEqual([
    { identifier: 'a/first', payload: { project_id: 'p' } },
    { identifier: 'a/second', payload: { project_id: 'p', provider_id: 'q' } },
  ]);
});

test('a hint that cannot be given is logged, not thrown: the rows are there', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys));
  await db.end();
  const lines: unknown[] = [];
  const log = openLog('warn');
  log.warn = ((fields: object) => lines.push(fields)) as unknown as typeof log.warn;
  await hint({ db, log }, { task: 'a/first', payload: { project_id: 'p' } });
  expect(lines).toEqual([expect.objectContaining({ task: 'a/first', err: expect.any(Error) })]);
});
