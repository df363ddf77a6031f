import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, TaskList } from 'graphile-worker';
import type pg from 'pg';
import type { z } from 'zod';
import type { Deps } from './deps.ts';

/** What a task is given: the service's parts, and what the worker that runs it knows. */
export type TaskDeps = Deps & {
  workerId: () => string;
  /** The queue's own connection, for maintenance that the runtime role has no right to. */
  jobs: pg.ClientBase;
  /** Aborted when the worker stops: a job ends between two pieces of work. */
  signal: AbortSignal;
};

type BoundTask = (deps: TaskDeps) => Task;

/** A job: its payload's schema and one call. The payload holds ids only; decisions are made from rows. */
export const task =
  <S extends z.ZodType>(
    payload: S,
    handle: (payload: z.output<S>, deps: TaskDeps) => Promise<void>,
  ): BoundTask =>
  (deps) =>
  (raw) =>
    handle(payload.parse(raw), deps);

/** `tasks/identity/resolve_events.ts` becomes the task `identity/resolve_events`. */
export const loadTasks = async (directory: string, deps: TaskDeps): Promise<TaskList> => {
  const tasks: TaskList = {};
  for (const file of globSync('*/*.ts', { cwd: directory })) {
    const module = (await import(join(directory, file))) as { default: BoundTask };
    tasks[file.replace(/\.ts$/, '')] = module.default(deps);
  }
  return tasks;
};
