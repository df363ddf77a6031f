import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, TaskList } from 'graphile-worker';
import type pg from 'pg';
import { z } from 'zod';
import type { Deps } from './deps.ts';
import type { Hint } from './hints.ts';
import { makeJobShares } from './job_shares.ts';
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

type Handle<S extends z.ZodType> = (payload: z.output<S>, deps: TaskDeps) => Promise<void>;

/** A job: its payload's schema and one call. The payload holds ids only; decisions are made from rows. */
export const task =
  <S extends z.ZodType>(payload: S, handle: Handle<S>): BoundTask =>
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

const OfProject = z.object({ project_id: z.uuid() });

const takingPart = <S extends typeof OfProject>(
  isBackground: boolean,
  payload: S,
  handle: Handle<S>,
): BoundTask => {
  const bind = task(payload, handle);
  return (deps) => {
    const run = bind(deps);
    return (raw, helpers) => {
      const parsed = OfProject.safeParse(raw);
      const name = helpers?.job?.task_identifier;
      // A job without a project is refused where its payload is parsed, and a call that no queue made has no job.
      if (!parsed.success || name === undefined) return run(raw, helpers);
      const { project_id: projectId } = parsed.data;
      const own = { task: name, payload: raw as Hint['payload'], projectId, isBackground };
      const shares = deps.resources.of(makeJobShares, deps);
      return shares.run(own, async () => void (await run(raw, helpers)));
    };
  };
};

/** A job of one project, which takes part in the shares of a worker's jobs (`JobShares`). */
export const sharedTask = <S extends typeof OfProject>(payload: S, handle: Handle<S>): BoundTask =>
  takingPart(false, payload, handle);

/** The same for work that can wait, such as that of segments. */
export const backgroundTask = <S extends typeof OfProject>(
  payload: S,
  handle: Handle<S>,
): BoundTask => takingPart(true, payload, handle);

/** `tasks/identity/resolve_events.ts` becomes the task `identity/resolve_events`. */
export const loadTasks = async (directory: string, deps: TaskDeps): Promise<TaskList> => {
  const tasks: TaskList = {};
  for (const file of globSync('*/*.ts', { cwd: directory })) {
    const module = (await import(join(directory, file))) as { default: BoundTask };
    tasks[file.replace(/\.ts$/, '')] = module.default(deps);
  }
  return tasks;
};
