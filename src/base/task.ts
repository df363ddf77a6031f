import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, TaskList } from 'graphile-worker';
import type pg from 'pg';
import type { z } from 'zod';
import type { Deps } from './deps.ts';
import { metricsOf, secondsSince } from './metrics.ts';

/** What a task is given: the service's parts, and what the worker that runs it knows. */
export type TaskDeps = Deps & {
  workerId: () => string;
  /** The queue's own connections, for maintenance that the runtime role has no right to. */
  jobs: Pick<pg.Pool, 'query'>;
  /** Aborted when the worker stops: a job ends between two pieces of work. */
  signal: AbortSignal;
};

type BoundTask = (deps: TaskDeps) => Task;

/** What the queue may keep of a failure: it stores the message beside the job, where nobody erases it. */
class JobFailed extends Error {
  override readonly name = 'JobFailed';
}

/** A job: its payload's schema and one call. The payload holds ids only; decisions are made from rows. */
export const task =
  <S extends z.ZodType>(
    payload: S,
    handle: (payload: z.output<S>, deps: TaskDeps) => Promise<void>,
  ): BoundTask =>
  (deps) =>
  async (raw, helpers) => {
    const job = helpers?.job;
    const startedAt = performance.now();
    const time = (result: 'done' | 'failed') =>
      metricsOf(deps).jobs.observe({ task: job?.task_identifier, result }, secondsSince(startedAt));
    try {
      await handle(payload.parse(raw), deps);
      time('done');
    } catch (error) {
      time('failed');
      deps.log.error(
        { err: error, job_id: job?.id, task: job?.task_identifier },
        'job failed; it is tried again',
      );
      throw new JobFailed(error instanceof Error ? error.name : 'unknown');
    }
  };

/** `tasks/identity/resolve_events.ts` becomes the task `identity/resolve_events`. */
export const loadTasks = async (directory: string, deps: TaskDeps): Promise<TaskList> => {
  const tasks: TaskList = {};
  for (const file of globSync('*/*.ts', { cwd: directory })) {
    const module = (await import(join(directory, file))) as { default: BoundTask };
    tasks[file.replace(/\.ts$/, '')] = module.default(deps);
  }
  return tasks;
};
