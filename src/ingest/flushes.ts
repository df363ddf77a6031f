import { isTimeout } from '../base/database_errors.ts';
import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { claimFlushes, deleteFlushes, postponeFlush, splitFlush } from './flush_queries.ts';
import type { Postponed } from './flush_queries.ts';

/** How many flushes one transaction of the worker takes, of `CLAIM_EVENTS_MAX` events at most. */
export const CLAIM_FLUSHES_MAX = 100;
/** How many of them it takes at a time when all of them together fail. */
export const PIECE_FLUSHES = 10;

type Work<T> = (scope: Scope, flushIds: string[]) => Promise<T>;

/** An event that could not be processed, and why. */
export type Failed = Postponed & { error: unknown };

/** What came of taking flushes: what the work answered, whom it failed for, whether more is due. */
export type Taken<T> = { done: T[]; failed: Failed[]; isMore: boolean };

const finish = <T>(scope: Scope, flushIds: string[], work: Work<T>) =>
  attempt(
    scope,
    async (inner) => {
      const value = await work(inner, flushIds);
      await deleteFlushes(inner, flushIds);
      return value;
    },
    { mayTimeOut: true },
  );

/** Has flushes done; `taken` gets what came of it. Answers whether to go on: not after what was too slow. */
const take = async <T>(
  scope: Scope,
  flushIds: string[],
  work: Work<T>,
  taken: Taken<T>,
): Promise<boolean> => {
  const together = await finish(scope, flushIds, work);
  if (together.kind === 'done') {
    taken.done.push(together.value);
    return true;
  }
  const [flushId = '', ...others] = flushIds;
  if (others.length === 0) {
    if (await splitFlush(scope, flushId, [newId(), newId()])) taken.isMore = true;
    else taken.failed.push({ ...(await postponeFlush(scope, flushId)), error: together.error });
    return !isTimeout(together.error);
  }
  const size = flushIds.length > PIECE_FLUSHES ? PIECE_FLUSHES : 1;
  for (let from = 0; from < flushIds.length; from += size) {
    if (await take(scope, flushIds.slice(from, from + size), work, taken)) continue;
    taken.isMore ||= from + size < flushIds.length;
    return false;
  }
  return !isTimeout(together.error);
};

/**
 * Takes the oldest flushes nobody else works on and has them done: together when all goes well, else some at a time,
 * and where those fail each alone. One that fails alone is split, and its halves are taken next; so each event is
 * done in the end but those that fail by themselves. They wait, longer each time, and are never given up.
 *
 * To take too long is to fail, too. But after one that alone took too long, and after some that did together, the
 * others are left for the next: so a transaction waits for time-outs three times at most, however many are slow.
 */
export const takeFlushes = async <T>(scope: Scope, work: Work<T>): Promise<Taken<T>> => {
  const { flushIds, isMore } = await claimFlushes(scope, CLAIM_FLUSHES_MAX);
  const taken: Taken<T> = { done: [], failed: [], isMore };
  if (flushIds.length > 0) await take(scope, flushIds, work, taken);
  return taken;
};

/** Says which events could not be processed: as an error the first time, as a warning at each later one. */
export const logFailed = (
  { log }: Pick<Deps, 'log'>,
  projectId: string,
  failed: readonly Failed[],
): void => {
  for (const { error, event_id, failure_count, retry_at } of failed) {
    log[failure_count === 1 ? 'error' : 'warn'](
      { err: error, project_id: projectId, event_id, failure_count, retry_at },
      'an event cannot be processed; it is tried again',
    );
  }
};
