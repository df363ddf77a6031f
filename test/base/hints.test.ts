import { expect, test } from 'vitest';
import { giveHints, hint, Waker } from '../../src/base/hints.ts';
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

/** Everything that was written about hints, as a count of the queue's statements. */
const countHints = async (): Promise<number> => {
  const { rows } = await database.owner.query<{ given: number }>(
    `select coalesce(sum(key_revision) + count(*), 0)::int as given from (
       select revision as key_revision from graphile_worker._private_jobs where key like 'b/%'
     ) as job`,
  );
  return rows[0]?.given ?? Number.NaN;
};

test('hints for the same work that follow closely become two at most: the first at once, the rest as one', async () => {
  const waker = new Waker(database.deps);
  const one = { task: 'b/busy', payload: { project_id: 'p' } };
  for (let at = 0; at < 100; at += 1) waker.wake(one);
  waker.wake({ task: 'b/other', payload: { project_id: 'p' } });
  await waker.close();
  expect(await countHints()).toBe(3);
});

test('hints for what gathers are given as one, and not lost when the process stops', async () => {
  const before = await countHints();
  const waker = new Waker(database.deps);
  const one = { task: 'b/many', payload: { project_id: 'p' } };
  for (let at = 0; at < 100; at += 1) waker.wakeForMany(one);
  await expect.poll(countHints).toBe(before + 1);
  waker.wakeForMany(one);
  expect(await countHints()).toBe(before + 1);
  await waker.close();
  expect(await countHints()).toBe(before + 2);
});

test('work that has gathered is hinted at for somebody who does not wait, too', async () => {
  const before = await countHints();
  const waker = new Waker(database.deps);
  const one = { task: 'b/both', payload: { project_id: 'p' } };
  waker.wakeForMany(one);
  waker.wake(one);
  await expect.poll(countHints).toBe(before + 1);
  await waker.close();
  expect(await countHints()).toBe(before + 2);
});

test('what is asked for while a hint is given is not lost when the process stops', async () => {
  const before = await countHints();
  const waker = new Waker(database.deps);
  const one = { task: 'b/busy', payload: { project_id: 'q' } };
  waker.wake(one);
  waker.wake(one);
  await waker.close();
  expect((await countHints()) - before).toBe(2);
});

test('past so many hints that wait the next are dropped: the sweeper finds their work', async () => {
  const before = await countHints();
  const waker = new Waker(database.deps, 2);
  for (const project_id of ['full-1', 'full-2', 'full-3', 'full-1'])
    waker.wake({ task: 'b/full', payload: { project_id } });
  expect(waker.waitingCount).toBe(2);
  await waker.close();
  // Twice for the first, which was asked for again.
  expect((await countHints()) - before).toBe(3);
  expect(waker.waitingCount).toBe(0);
});

test('nothing is given after the close: the sweeper finds what is asked for then', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys));
  const lines: unknown[] = [];
  const log = openLog('warn', { write: (line: string) => void lines.push(line) });
  const waker = new Waker({ db, log });
  waker.wake({ task: 'b/early', payload: { project_id: 'r' } });
  const closed = waker.close();
  waker.wake({ task: 'b/late', payload: { project_id: 'r' } });
  await closed;
  await db.end();
  const before = await countHints();
  waker.wake({ task: 'b/late', payload: { project_id: 'r' } });
  await waker.close();
  expect(await countHints()).toBe(before);
  expect(lines).toEqual([]);
});
