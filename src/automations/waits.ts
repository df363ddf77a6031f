import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { findPeople, subjectOf } from './triggers.ts';
import { listAwaited, wakeRuns } from './wait_queries.ts';

/**
 * Wakes the runs of whoever did what they may wait for, under any of their identifiers. Whether an event is the
 * one that was waited for, the run finds out when it is walked.
 */
export const wakeAwaited = async (scope: Scope, flushIds: readonly string[]): Promise<number> => {
  const awaited = await listAwaited(scope, flushIds);
  if (awaited.length === 0) return 0;
  const people = await findPeople(scope, awaited.map(subjectOf));
  const members = await profiles.listMembers(
    scope,
    [...people.values()].map(({ profileId }) => profileId),
  );
  return wakeRuns(
    scope,
    [...new Set(awaited.map(({ name }) => name))],
    members.map(({ identity_id }) => identity_id),
  );
};
