import type { Hint } from '../../base/hints.ts';

/** Whether runs of a server may wait for a comparison, or only those that pages caused. */
export type MergeLane = 'server' | 'page';

/**
 * Wakes a worker to compare the runs of a person after a link or an undo. Comparisons that links of pages ask for are
 * jobs of a kind of their own, so that they hold up no others. A run of a server that waits for one asks for it again.
 */
export const mergeHint = (projectId: string, profileId: string, lane: MergeLane): Hint => {
  const payload = { project_id: projectId, profile_id: profileId };
  return lane === 'server'
    ? { task: 'automations/merge_runs', payload }
    : { task: 'automations/merge_runs_of_pages', payload };
};
