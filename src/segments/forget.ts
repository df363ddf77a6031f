import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { deleteEntries, findOldEntries } from './forget_queries.ts';

/** How many entries one transaction looks at. */
export const FORGET_ENTRIES_MAX = 5_000;

/** What others still need of the history of a project's segments, however old it is. */
export type NeededEntries = {
  /** How far it was read; null where nobody reads it. */
  readTo: number | null;
  /** What tells of some segments since a moment. */
  since: readonly { segment_id: string; since: Date }[];
};

/**
 * Forgets what the history of a project's segments tells from before the timeline begins, a bounded piece per
 * transaction, until stopped. When somebody last came into a segment, and last left it, stays. Answers how many
 * entries there were.
 */
export const forgetHistory = async (
  deps: Pick<Deps, 'db' | 'keys' | 'config'>,
  projectId: string,
  listNeeded: (scope: Scope) => Promise<NeededEntries>,
  signal: AbortSignal,
): Promise<number> => {
  let forgotten = 0;
  for (let after: number | null = 0; after !== null && !signal.aborted;) {
    const from: number = after;
    after = await inProject(deps, projectId, async (scope) => {
      const { readTo, since } = await listNeeded(scope);
      const page = { after: from, readTo, monthsBack: deps.config.retentionMonths };
      const { last, count } = await findOldEntries(scope, page, FORGET_ENTRIES_MAX);
      if (last !== null) forgotten += await deleteEntries(scope, { after: from, last, since });
      return count === FORGET_ENTRIES_MAX ? last : null;
    });
  }
  return forgotten;
};
