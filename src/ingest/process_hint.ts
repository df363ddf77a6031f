import type { Hint } from '../base/hints.ts';

/** Wakes a worker for the flushes of a project. */
export const processHint = (projectId: string): Hint => ({
  task: 'ingest/process_events',
  payload: { project_id: projectId },
});
