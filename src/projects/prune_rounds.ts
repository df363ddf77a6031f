import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { inRounds } from '../base/rounds.ts';

/** What one batch did, and where the next begins; null when there is none. */
export type Batch = { pruned: number; after: string | null };
type Rounds = {
  projects: AsyncIterable<string>;
  /** Where the first batch of a project begins. */
  first: string;
  signal: AbortSignal;
};

/** Prunes all projects, one small batch of each in turn, each in a transaction of its own. Returns how much went. */
export const pruneInRounds = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  { projects, first, signal }: Rounds,
  prune: (scope: Scope, after: string) => Promise<Batch>,
): Promise<number> => {
  let pruned = 0;
  await inRounds(projects, first, signal, async (projectId, after) => {
    const batch = await inProject(deps, projectId, (scope) => prune(scope, after));
    pruned += batch.pruned;
    return batch.after;
  });
  return pruned;
};
