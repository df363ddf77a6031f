import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Hint } from '../base/hints.ts';
import { todayAt } from './compile.ts';
import { countFlushes } from './condition_queries.ts';
import { takeTurn } from './turn.ts';

export { PastSegments } from './as_of.ts';
export { listMatching } from './ask.ts';
export { todayAt };
export { listUsed as listAsked } from './conditions.ts';
export { Definition, Where } from './schema.ts';
export type { Condition, NewDefinition } from './schema.ts';
export { changeSegment, createSegment, deleteSegment, holdDefinitions } from './records.ts';
export { eraser } from './erase.ts';
export { historySection, memberSection } from './export.ts';
export { forgetHistory } from './forget.ts';
export type { NeededEntries } from './forget.ts';
export {
  findLastEntry,
  listHistoryAfter,
  listMembers,
  listPastEntries,
  readLastEntry,
} from './read_queries.ts';
export { findFirstEntries, listEntriesOf } from './past_queries.ts';
export type { PastEntry } from './past_queries.ts';
export type { Told } from './read_queries.ts';
export { findSegment, holdSegments, listSegments } from './record_queries.ts';
export { Name } from './shown.ts';

/** Wakes a worker for the segments of a project. */
export const refreshHint = (projectId: string): Hint => ({
  task: 'segments/refresh',
  payload: { project_id: projectId },
});

/**
 * Counts the events of some flushes for the segments that ask for them, in the transaction that processes
 * them. Answers whom to wake after the commit.
 */
export const countEvents = async (scope: Scope, flushIds: readonly string[]): Promise<Hint[]> =>
  (await countFlushes(scope, flushIds)) ? [refreshHint(scope.projectId)] : [];

/** How long one job goes on; then it makes room for others. */
const REFRESH_MS = 5_000;

type Refreshing = {
  signal: AbortSignal;
  now?: () => Date;
  /** Told after each piece: whoever came or went by it is in the history. */
  afterTurn?: () => Promise<void>;
};

/**
 * Brings the segments of a project up to date, piece by piece: so long, or until nothing is left or the worker
 * stops. Answers whether there is more to do.
 */
export const refreshProject = async (
  deps: Pick<Deps, 'db' | 'keys' | 'log'>,
  projectId: string,
  { signal, now = () => new Date(), afterTurn = async () => {} }: Refreshing,
): Promise<boolean> => {
  const until = Date.now() + REFRESH_MS;
  while (!signal.aborted) {
    const isMore = await takeTurn(deps, projectId, now());
    if (!isMore) return false;
    await afterTurn();
    if (Date.now() > until) return true;
  }
  return false;
};
