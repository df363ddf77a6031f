import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { ChangeNotes } from '../profiles/profiles.ts';
import { holdProfiles } from './member_queries.ts';
import { postponeWakes } from './wake_queries.ts';
import type { Postponed } from './wake_queries.ts';

/** How many people who cannot be evaluated one transaction finds; each costs it a few attempts. */
export const FAILURES_MAX = 10;
/** How long the segments of a person stay as they are when the person cannot be evaluated. */
export const RETRY_MS = 3_600_000;

/** A person who could not be evaluated, and why. */
export type Failed = { profileId: string; error: unknown; retryAt: Date };

type Refreshing = {
  now: Date;
  /** The notes that people are evaluated for, by their profiles. Who cannot be evaluated keeps them. */
  notes?: ReadonlyMap<string, ChangeNotes>;
  work: (scope: Scope, ids: readonly string[]) => Promise<unknown>;
};

/**
 * Refreshes people together. Where that fails, it refreshes halves of them, so that a person who cannot be evaluated
 * stops no other: that one keeps its segments and is evaluated again later. `count` is how many of the people, in
 * their order, this has settled: all of them, or those up to the last failure that the transaction takes.
 */
export const refreshInParts = async (
  scope: Scope,
  profileIds: readonly string[],
  { now, notes = new Map(), work }: Refreshing,
): Promise<{ count: number; failed: Failed[] }> => {
  const retryAt = new Date(now.getTime() + RETRY_MS);
  const failed: Failed[] = [];
  const pending = profileIds.length > 0 ? [profileIds] : [];
  let count = 0;
  for (let some = pending.pop(); some !== undefined; some = pending.pop()) {
    const ids = some;
    const tried = await attempt(scope, (inner) => work(inner, ids));
    if (tried.kind === 'failed' && ids.length > 1) {
      const middle = Math.ceil(ids.length / 2);
      pending.push(ids.slice(middle), ids.slice(0, middle));
      continue;
    }
    count += ids.length;
    if (tried.kind === 'done') continue;
    failed.push(...ids.map((profileId) => ({ profileId, error: tried.error, retryAt })));
    if (failed.length === FAILURES_MAX) break;
  }
  await postpone(
    scope,
    failed.map(({ profileId }) => ({ profileId, noted: notes.get(profileId) ?? null })),
    retryAt,
  );
  return { count, failed };
};

const postpone = async (scope: Scope, failed: readonly Postponed[], until: Date): Promise<void> => {
  const held = await holdProfiles(
    scope,
    failed.map(({ profileId }) => profileId),
  );
  await postponeWakes(
    scope,
    failed.filter(({ profileId }) => held.has(profileId)),
    until,
  );
};

/**
 * Logs that people could not be evaluated. The log names no person, because an erase does not reach it:
 * `segments.wakeups` has each of them, with `retry_at` as `wake_at`.
 */
export const logFailed = (
  { log }: Pick<Deps, 'log'>,
  projectId: string,
  failed: readonly Failed[],
): void => {
  for (const { error, retryAt } of failed)
    log.error(
      { err: error, project_id: projectId, retry_at: retryAt },
      'the segments of a person cannot be evaluated; they are evaluated again later',
    );
};
