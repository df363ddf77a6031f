import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Hint } from '../base/hints.ts';
import { todayAt } from './compile.ts';
import { countFlushes } from './condition_queries.ts';
import { fillNextPiece, refreshNextPeople } from './turn.ts';

export { PastSegments } from './as_of.ts';
export { listMatching } from './ask.ts';
export { decideLeaf } from './evaluate.ts';
export { todayAt };
export { bounded, Definition, listPlaced, makeCondition, personLeaves } from './schema.ts';
export type { Condition, ConditionOf, NewDefinition, PersonLeaf } from './schema.ts';
export {
  FieldName,
  Filters,
  FILTERS_MAX,
  NAME_CHARS_MAX,
  WINDOW_DAYS_MAX,
} from './value_schema.ts';
export type { Filter } from './value_schema.ts';
export { findFailing } from './value_tests.ts';
export { changeSegment, createSegment, deleteSegment, holdDefinitions } from './records.ts';
export { eraser } from './erase.ts';
export { historySection, memberSection } from './export.ts';
export { forgetHistory } from './forget.ts';
export { pruneCounters } from './prune_counters.ts';
export { listWithImports } from './import_queries.ts';
export type { NeededEntries } from './forget.ts';
export { countMembers } from './member_count.ts';
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
export { findSegment, holdSegments, isFillDue, listSegments } from './record_queries.ts';
export { Name } from './shown.ts';

/** Wakes a worker for the people of a project whose segments may have changed. */
export const refreshHint = (projectId: string): Hint => ({
  task: 'segments/refresh',
  payload: { project_id: projectId },
});

/** Wakes a worker for the definitions of a project that came, changed or went. */
export const fillHint = (projectId: string): Hint => ({
  task: 'segments/fill',
  payload: { project_id: projectId },
});

/**
 * Counts the events of some flushes for the segments that ask for them, in the transaction that processes
 * them. Answers whom to wake after the commit.
 */
export const countEvents = async (scope: Scope, flushIds: readonly string[]): Promise<Hint[]> =>
  (await countFlushes(scope, flushIds)) ? [refreshHint(scope.projectId)] : [];

/** How long one job goes on. Then it leaves its place to others. */
const JOB_MS = 5_000;

type Refreshing = {
  signal: AbortSignal;
  now?: () => Date;
  /** Runs after each piece, whose entries are in the history then. */
  afterPiece?: () => Promise<void>;
};

type Piece = (deps: RefreshDeps, projectId: string, now: Date) => Promise<boolean>;
type RefreshDeps = Pick<Deps, 'db' | 'keys' | 'log'>;

const inPieces =
  (next: Piece) =>
  async (
    deps: RefreshDeps,
    projectId: string,
    { signal, now = () => new Date(), afterPiece = async () => {} }: Refreshing,
  ): Promise<boolean> => {
    const until = Date.now() + JOB_MS;
    while (!signal.aborted) {
      const isMore = await next(deps, projectId, now());
      if (!isMore) return false;
      await afterPiece();
      if (Date.now() > until) return true;
    }
    return false;
  };

/**
 * Evaluates the people of a project who changed or are due by time, piece by piece, until none is left, JOB_MS has
 * passed or the worker stops. Returns whether there is more to do.
 */
export const refreshPeople = inPieces(refreshNextPeople);

/** Does the same with what definitions that came, changed or went ask for. */
export const fillSegments = inPieces(fillNextPiece);
