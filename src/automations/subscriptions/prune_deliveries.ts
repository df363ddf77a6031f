import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { DELIVERIES_WAITING_MAX, PRUNED_AT_ONCE_MAX } from './delivery_limits.ts';
import { deleteEnded, dropBeyond, dropExpired, listWaitingEndpoints } from './prune_queries.ts';

export type Pruned = { dropped: number; deleted: number };

/** Repeats a step, each time in a transaction of its own, until it finds less than it may take. */
const repeat = async (
  deps: Deps,
  projectId: string,
  step: (scope: Scope) => Promise<number>,
): Promise<number> => {
  let all = 0;
  for (let taken = PRUNED_AT_ONCE_MAX; taken === PRUNED_AT_ONCE_MAX; all += taken)
    taken = await inProject(deps, projectId, step);
  return all;
};

/**
 * Drops the deliveries of a project that wait for too long, or that are too many for their endpoint, and deletes those
 * that ended long ago. Safe to repeat: what is dropped or deleted is not found again.
 */
export const pruneDeliveries = async (
  deps: Deps,
  projectId: string,
  waitingMax = DELIVERIES_WAITING_MAX,
): Promise<Pruned> => {
  let dropped = 0;
  for (const { endpoint_id: id } of await inProject(deps, projectId, listWaitingEndpoints)) {
    dropped += await repeat(deps, projectId, (scope) => dropExpired(scope, id));
    dropped += await repeat(deps, projectId, (scope) => dropBeyond(scope, id, waitingMax));
  }
  return { dropped, deleted: await repeat(deps, projectId, deleteEnded) };
};
