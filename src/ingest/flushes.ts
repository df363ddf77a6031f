import { isTimeout } from '../base/database_errors.ts';
import { attempt, inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { claimFlushes, deleteFlushes, postponeFlush, splitFlush } from './flush_queries.ts';
import type { Postponed } from './flush_queries.ts';
import { processHint } from './process_hint.ts';

/** How many flushes one transaction of the worker takes, of `CLAIM_EVENTS_MAX` events at most. */
export const CLAIM_FLUSHES_MAX = 100;
/** How many of them it takes at a time when all of them together fail. */
export const PIECE_FLUSHES = 10;

/** Does work for one project in a transaction of its own. */
type Within = <R>(work: (scope: Scope) => Promise<R>) => Promise<R>;

/** The work for flushes, undone alone where it fails, and what follows it in the same transaction. */
type Work<T, R> = {
  process: (scope: Scope, flushIds: string[]) => Promise<T>;
  finish: (scope: Scope, processed: T) => Promise<R>;
};

/** An event that could not be processed, and why. */
export type Failed = Postponed & { error: unknown };

/** The results of the work, the events for which it failed, and whether more flushes are due. */
export type Taken<R> = { done: R[]; failed: Failed[]; isMore: boolean };

/** What one transaction did with the flushes that it claimed. */
type Piece<R> = { count: number; isMore: boolean } & (
  | { kind: 'none' }
  | { kind: 'done'; value: R }
  | { kind: 'failed_together' }
  | { kind: 'split' }
  | { kind: 'postponed'; failed: Failed }
);

const takePiece = async <T, R>(
  scope: Scope,
  flushesMax: number,
  { process, finish }: Work<T, R>,
): Promise<Piece<R>> => {
  const { flushIds, isMore } = await claimFlushes(scope, flushesMax);
  const piece = { count: flushIds.length, isMore };
  if (piece.count === 0) return { ...piece, kind: 'none' };
  const work = async (inner: Scope): Promise<T> => {
    const value = await process(inner, flushIds);
    await deleteFlushes(inner, flushIds);
    return value;
  };
  const outcome = await attempt(scope, work, { mayTimeOut: true });
  if (outcome.kind === 'done')
    return { ...piece, kind: 'done', value: await finish(scope, outcome.value) };
  const { error } = outcome;
  const [flushId = '', ...others] = flushIds;
  if (others.length > 0) return { ...piece, kind: 'failed_together' };
  if (await splitFlush(scope, flushId, [newId(), newId()])) return { ...piece, kind: 'split' };
  const failed = { ...(await postponeFlush(scope, flushId)), error };
  return { ...piece, kind: 'postponed', failed };
};

/**
 * Takes the oldest flushes that no other worker has, and processes them: together, else some at a time, and where
 * those fail each alone. It splits one that fails alone, and takes the halves next. So in the end it processes all
 * events but those that fail by themselves. They wait, longer each time, and are never given up.
 *
 * Each piece has a transaction of its own. A transaction locks people in one order, which those of several pieces
 * together would not follow: two workers would deadlock.
 *
 * To take too long is to fail, too. After an event that alone took too long the others are left for the next call. So
 * one call waits for three timeouts at most, however many events are slow.
 */
export const takeFlushes = async <T, R>(within: Within, work: Work<T, R>): Promise<Taken<R>> => {
  const taken: Taken<R> = { done: [], failed: [], isMore: false };
  let size = CLAIM_FLUSHES_MAX;
  let left = CLAIM_FLUSHES_MAX;
  let isSplit = false;
  while (left > 0) {
    const piece = await within((scope) => takePiece(scope, size, work));
    if (piece.kind === 'failed_together') {
      left = piece.count;
      size = piece.count > PIECE_FLUSHES ? PIECE_FLUSHES : 1;
      continue;
    }
    left -= size;
    if (piece.kind === 'done') taken.done.push(piece.value);
    if (piece.kind === 'postponed') taken.failed.push(piece.failed);
    isSplit ||= piece.kind === 'split';
    taken.isMore = isSplit || piece.isMore;
    if (!piece.isMore || (piece.kind === 'postponed' && isTimeout(piece.failed.error))) break;
  }
  return taken;
};

/** Logs which events could not be processed: as an error the first time, as a warning at each later one. */
const logFailed = (log: Deps['log'], projectId: string, failed: readonly Failed[]): void => {
  for (const { error, event_id, failure_count, retry_at } of failed) {
    log[failure_count === 1 ? 'error' : 'warn'](
      { err: error, project_id: projectId, event_id, failure_count, retry_at },
      'an event cannot be processed; it is tried again',
    );
  }
};

/** Processes the oldest flushes of a project, as `takeFlushes` does. Returns the hints for after the commits. */
export const processFlushes = async <T>(
  deps: Pick<Deps, 'db' | 'keys' | 'log'>,
  projectId: string,
  work: Work<T, Hint[]>,
): Promise<Hint[]> => {
  const { done, failed, isMore } = await takeFlushes(
    (inScope) => inProject(deps, projectId, inScope),
    work,
  );
  logFailed(deps.log, projectId, failed);
  return isMore ? [...done.flat(), processHint(projectId)] : done.flat();
};
