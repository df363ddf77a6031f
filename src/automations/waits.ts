import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { findPeople, subjectOf } from './triggers.ts';
import { listAwaited, wakeRuns } from './wait_queries.ts';

/**
 * Wakes the runs of people with an event that they may wait for, under any of their identifiers. The walk of a run
 * decides whether it waits for this very event. Returns the ids of the runs.
 */
export const wakeAwaited = async (scope: Scope, flushIds: readonly string[]): Promise<string[]> => {
  const awaited = await listAwaited(scope, flushIds);
  if (awaited.length === 0) return [];
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
