import type pg from 'pg';
import { expect, test } from 'vitest';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** A worker that signed on and holds a job of its own. */
const signOn = async (queue: pg.Client, worker: string) => {
  await queue.query('insert into queue.workers values ($1, now(), now())', [worker]);
  await queue.query('select from graphile_worker.add_job($1)', [`t/${worker}`]);
  await database.owner.query(
    `update graphile_worker._private_jobs set locked_at = now(), locked_by = $1, attempts = 1
    where task_id = (select id from graphile_worker._private_tasks where identifier = $2)`,
    [worker, `t/${worker}`],
  );
};

const heldBy = async (worker: string) =>
  (
    await database.owner.query(
      `select job.locked_by from graphile_worker._private_jobs as job
      join graphile_worker._private_tasks as task on task.id = job.task_id where task.identifier = $1`,
      [`t/${worker}`],
    )
  ).rows;

const release = (queue: pg.Client, workers: string[]) =>
  queue.query('select queue.release_workers($1)', [workers]);

test('the jobs of dead workers are free again and the workers forgotten; others keep theirs', async () => {
  const queue = await connectAs(database, 'trunkline_queue');
  for (const worker of ['dead-1', 'dead-2', 'alive']) await signOn(queue, worker);
  await release(queue, ['dead-1', 'dead-2']);
  for (const dead of ['dead-1', 'dead-2'])
    expect(await heldBy(dead)).toEqual([{ locked_by: null }]);
  expect(await heldBy('alive')).toEqual([{ locked_by: 'alive' }]);
  const { rows } = await queue.query('select worker_id from queue.workers');
  expect(rows).toEqual([{ worker_id: 'alive' }]);
});

test('a worker that never signed on loses its jobs too', async () => {
  const queue = await connectAs(database, 'trunkline_queue');
  await signOn(queue, 'stranger');
  await queue.query("delete from queue.workers where worker_id = 'stranger'");
  await release(queue, ['stranger']);
  expect(await heldBy('stranger')).toEqual([{ locked_by: null }]);
});

test('releasing nobody, or somebody twice, changes nothing', async () => {
  const queue = await connectAs(database, 'trunkline_queue');
  await signOn(queue, 'twice');
  await release(queue, []);
  expect(await heldBy('twice')).toEqual([{ locked_by: 'twice' }]);
  await release(queue, ['twice']);
  await release(queue, ['twice']);
  expect(await heldBy('twice')).toEqual([{ locked_by: null }]);
});

test('two sweepers releasing the same workers at once do not wait for each other for ever', async () => {
  const queues = await Promise.all([1, 2].map(() => connectAs(database, 'trunkline_queue')));
  const workers = Array.from({ length: 10 }, (_, at) => `many-${at}`);
  for (const worker of workers) await signOn(queues[0] as pg.Client, worker);
  await Promise.all([
    release(queues[0] as pg.Client, workers),
    release(queues[1] as pg.Client, workers.toReversed()),
  ]);
  for (const worker of workers) expect(await heldBy(worker)).toEqual([{ locked_by: null }]);
});
