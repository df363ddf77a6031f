import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import {
  BACKGROUND_JOBS_PART,
  JobShares,
  KIND_PART,
  PROJECT_JOBS_PART,
} from '../../src/base/job_shares.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const sharesOf = (workerConcurrency: number) =>
  new JobShares({
    ...database.deps,
    config: { ...database.deps.config, workerConcurrency },
  });

/** Runs jobs that last until they are ended. */
const running = (shares: JobShares) => {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const begin = (projectId: string, name = `task_${begun.length}`, isBackground = false) => {
    const own = { task: name, payload: { project_id: projectId }, projectId, isBackground };
    return shares.run(own, () => {
      begun.push(name);
      return new Promise<void>((resolve) => void ends.push(resolve));
    });
  };
  return { begin, begun, ends };
};

const jobsOf = async (projectId: string): Promise<string[]> =>
  (
    await database.owner.query<{ identifier: string }>(
      `select task.identifier from graphile_worker._private_jobs as job
      join graphile_worker._private_tasks as task on task.id = job.task_id
      where job.payload ->> 'project_id' = $1 order by task.identifier`,
      [projectId],
    )
  ).rows.map(({ identifier }) => identifier);

const SHARES: [number, number, number][] = [
  [1, 1, 1],
  [2, 1, 1],
  [5, 2, 1],
  [10, 4, 2],
  [100, 40, 20],
];

test.each(SHARES)('of %i jobs a project has %i at a time', async (concurrency, share) => {
  expect(share).toBe(Math.max(1, Math.floor(concurrency * PROJECT_JOBS_PART)));
  const { begin, begun, ends } = running(sharesOf(concurrency));
  const [busy, other] = [newId(), newId()];
  const jobs = Array.from({ length: share }, () => begin(busy));
  // One past the share ends at once, and does nothing.
  await begin(busy, 'left');
  expect(begun).toHaveLength(share);
  expect(begun).not.toContain('left');
  jobs.push(begin(other));
  expect(begun).toHaveLength(share + 1);
  for (const end of ends) end();
  await Promise.all(jobs);
});

test.each(SHARES)('of %i jobs a project has %i, and %i of one kind', async (...given) => {
  const [concurrency, share, ofKind] = given;
  expect(ofKind).toBe(Math.max(1, Math.floor(share * KIND_PART)));
  const { begin, begun, ends } = running(sharesOf(concurrency));
  const projectId = newId();
  const jobs = Array.from({ length: ofKind }, () => begin(projectId, 'advance'));
  await begin(projectId, 'advance');
  expect(begun).toHaveLength(ofKind);
  if (share > ofKind) jobs.push(begin(projectId, 'process'));
  expect(begun).toHaveLength(ofKind + (share > ofKind ? 1 : 0));
  // The end of a job of the other kind makes no room for what was left.
  if (share > ofKind) {
    ends.pop()?.();
    await jobs.pop();
    expect(await jobsOf(projectId)).toEqual([]);
  }
  ends.pop()?.();
  await jobs.pop();
  expect(await jobsOf(projectId)).toEqual(['advance']);
  for (const end of ends) end();
  await Promise.all(jobs);
});

test.each([
  [1, 1],
  [5, 2],
  [10, 4],
])('of %i jobs %i may be in the background, of all projects', async (concurrency, share) => {
  expect(share).toBe(Math.max(1, Math.floor(concurrency * BACKGROUND_JOBS_PART)));
  const { begin, begun, ends } = running(sharesOf(concurrency));
  const jobs = Array.from({ length: share }, () => begin(newId(), 'fill', true));
  const late = newId();
  await begin(late, 'fill', true);
  expect(begun).toHaveLength(share);
  // Work that people wait for has a place beside it.
  jobs.push(begin(newId(), 'process'));
  expect(begun).toHaveLength(share + 1);
  ends.pop()?.();
  await jobs.pop();
  expect(await jobsOf(late)).toEqual([]);
  ends[0]?.();
  await jobs[0];
  expect(await jobsOf(late)).toEqual(['fill']);
  for (const end of ends) end();
  await Promise.all(jobs);
});

test('attack: many jobs of one kind are left; one of another kind goes first, whenever it came', async () => {
  const { begin, ends } = running(sharesOf(10));
  const projectId = newId();
  const jobs = ['pages', 'pages', 'process', 'process'].map((name) => begin(projectId, name));
  for (const name of ['pages', 'pages', 'pages', 'process', 'merge']) await begin(projectId, name);
  // The end of a job of either kind makes room for any of them.
  ends[0]?.();
  await jobs[0];
  expect(await jobsOf(projectId)).toEqual(['merge']);
  ends[1]?.();
  await jobs[1];
  expect(await jobsOf(projectId)).toEqual(['merge', 'pages']);
  for (const end of ends) end();
  await Promise.all(jobs);
});

test('what was left is hinted at when a job of the project ends, one for each, the oldest first', async () => {
  const { begin, ends } = running(sharesOf(5));
  const projectId = newId();
  const jobs = [begin(projectId), begin(projectId)];
  for (const name of ['left_1', 'left_2', 'left_1', 'left_3']) await begin(projectId, name);
  expect(await jobsOf(projectId)).toEqual([]);
  ends[0]?.();
  await jobs[0];
  expect(await jobsOf(projectId)).toEqual(['left_1']);
  ends[1]?.();
  await jobs[1];
  expect(await jobsOf(projectId)).toEqual(['left_1', 'left_2']);
});

test('a job that fails gives its place back, too', async () => {
  const shares = sharesOf(1);
  const projectId = newId();
  const payload = { project_id: projectId };
  const own = { task: 'fails', payload, projectId, isBackground: false };
  for (let times = 0; times < 3; times += 1)
    await expect(shares.run(own, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('a process that stops hints at all that it has left', async () => {
  const shares = sharesOf(1);
  const { begin, ends } = running(shares);
  const projectId = newId();
  const job = begin(projectId);
  await begin(projectId, 'left_1');
  await begin(projectId, 'left_2');
  await shares.close();
  expect(await jobsOf(projectId)).toEqual(['left_1', 'left_2']);
  ends[0]?.();
  await job;
});
