import { expect, test } from 'vitest';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const jobsOf = async (task: string) =>
  (
    await database.owner.query(
      `select job.payload, job.attempts, job.max_attempts, job.locked_by, job.run_at <= now() as is_due
      from graphile_worker._private_jobs as job
      join graphile_worker._private_tasks as task on task.id = job.task_id
      where task.identifier = $1 order by job.id`,
      [task],
    )
  ).rows;

const hint = async (task: string, payload: object) => {
  const runtime = await connectAs(database, 'trunkline_runtime');
  await runtime.query('select queue.add_hint(task => $1, payload => $2)', [task, payload]);
};

test('a hint becomes a job that is due at once', async () => {
  await hint('t/one', { project_id: 'p' });
  expect(await jobsOf('t/one')).toEqual([
    { payload: { project_id: 'p' }, attempts: 0, max_attempts: 25, locked_by: null, is_due: true },
  ]);
});

test('hints with one task and payload collapse, in whatever order their members are', async () => {
  await hint('t/two', { a: '1', b: '2' });
  await hint('t/two', { b: '2', a: '1' });
  await hint('t/two', { a: '1', b: '3' });
  expect((await jobsOf('t/two')).map(({ payload }) => payload)).toEqual([
    { a: '1', b: '2' },
    { a: '1', b: '3' },
  ]);
});

test('the same payload for another task is another job', async () => {
  await hint('t/three', { a: '1' });
  await hint('t/four', { a: '1' });
  expect(await jobsOf('t/three')).toHaveLength(1);
  expect(await jobsOf('t/four')).toHaveLength(1);
});

test('a hint while its twin is worked on is a job of its own, and the next one joins it', async () => {
  await hint('t/busy', { a: '1' });
  await database.owner.query(
    `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker-1', attempts = 1
    where task_id = (select id from graphile_worker._private_tasks where identifier = 't/busy')`,
  );
  await hint('t/busy', { a: '1' });
  await hint('t/busy', { a: '1' });
  expect(await jobsOf('t/busy')).toMatchObject([
    { locked_by: 'worker-1' },
    { locked_by: null, attempts: 0, is_due: true },
  ]);
});

test('a hint brings back a job that was put off after failing', async () => {
  await hint('t/late', { a: '1' });
  await database.owner.query(
    `update graphile_worker._private_jobs set attempts = 5, run_at = now() + interval '1 day', last_error = 'x'
    where task_id = (select id from graphile_worker._private_tasks where identifier = 't/late')`,
  );
  await hint('t/late', { a: '1' });
  expect(await jobsOf('t/late')).toMatchObject([{ attempts: 0, is_due: true }]);
});

test('twenty hints at once are one job', async () => {
  await Promise.all(Array.from({ length: 20 }, () => hint('t/many', { project_id: 'same' })));
  expect(await jobsOf('t/many')).toHaveLength(1);
});

test('the runtime role gives hints and has no other business in the queue', async () => {
  const runtime = await connectAs(database, 'trunkline_runtime');
  for (const statement of [
    'select from graphile_worker._private_jobs',
    "select graphile_worker.add_job('x')",
    'select from queue.workers',
    "select queue.release_workers(array['x'])",
  ])
    await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
});
