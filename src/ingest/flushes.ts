import { attempt, isTimeout } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { claimFlushes, deleteFlushes, postponeFlush, splitFlush } from './queries.ts';
import type { Postponed } from './queries.ts';

/** How many flushes one transaction of the worker takes; a flush holds at most 500 events. */
export const CLAIM_FLUSHES_MAX = 10;

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

/**
 * Takes the oldest flushes nobody else works on and has them done: together when all goes well, else
 * each alone. One that fails alone is split, and its halves are taken next; so each event is done in
 * the end but those that fail by themselves. They wait, longer each time, and are never given up.
 *
 * To take too long is to fail, too. But after one that alone took too long the others are left for the
 * next: so a transaction waits for time-outs twice at most, however many flushes are slow.
 */
export const takeFlushes = async <T>(scope: Scope, work: Work<T>): Promise<Taken<T>> => {
  const flushIds = await claimFlushes(scope, CLAIM_FLUSHES_MAX);
  const taken: Taken<T> = {
    done: [],
    failed: [],
    isMore: flushIds.length === CLAIM_FLUSHES_MAX,
  };
  if (flushIds.length === 0) return taken;

  const together = await finish(scope, flushIds, work);
  if (together.kind === 'done') return { ...taken, done: [together.value] };
  for (const flushId of flushIds) {
    const alone = flushIds.length === 1 ? together : await finish(scope, [flushId], work);
    if (alone.kind === 'done') {
      taken.done.push(alone.value);
      continue;
    }
    if (await splitFlush(scope, flushId, [newId(), newId()])) taken.isMore = true;
    else taken.failed.push({ ...(await postponeFlush(scope, flushId)), error: alone.error });
    if (isTimeout(alone.error)) {
      taken.isMore ||= flushId !== flushIds.at(-1);
      break;
    }
  }
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
