import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as profiles from '../profiles/profiles.ts';
import type { Definition } from './schema.ts';
import type { Step, StepOf } from './step_schema.ts';
import { wakeDates } from './wait_queries.ts';

const TIMEZONE = 'timezone';
/** How many notes of changed traits one transaction takes. */
export const CHANGES_MAX = 500;

/** Wakes a worker for the runs of people whose dates changed. */
export const datesHint = (projectId: string): Hint => ({
  task: 'automations/follow_dates',
  payload: { project_id: projectId },
});

/** Returns the traits that a date depends on: a change of one may move the date. */
export const listFollowed = ({ until, timezone }: StepOf<'delay_until'>): string[] => {
  if (!('trait' in until)) return [];
  return timezone === undefined ? [until.trait, TIMEZONE] : [until.trait];
};

const listFollowedBy = (step: Step): string[] =>
  step.kind === 'delay_until' ? listFollowed(step) : [];

/** Has changes noted of the traits that the dates of a version depend on. */
export const watchDates = (scope: Scope, { steps }: Definition): Promise<void> =>
  profiles.watchTraits(scope, [...new Set(Object.values(steps).flatMap(listFollowedBy))]);

/**
 * Wakes runs that wait for a date, of people with a change in a watched trait: the walk computes the date again.
 * Returns how many it woke, and whether there may be more notes.
 */
export const followDates = async (scope: Scope): Promise<{ woken: number; isMore: boolean }> => {
  const changed = await profiles.takeTraitChanges(scope, CHANGES_MAX);
  const notesOf = Map.groupBy(changed, ({ profile_id }) => profile_id);
  const members = await profiles.listMembers(scope, [...notesOf.keys()]);
  const since = new Map(
    members.map(({ identity_id, profile_id }) => {
      const times = (notesOf.get(profile_id) ?? []).map(({ noted_at: at }) => at.getTime());
      return [identity_id, new Date(Math.min(...times))] as const;
    }),
  );
  // People first: the transaction that processes their events locks them before it wakes their runs.
  await profiles.holdProfiles(scope, [...since.keys()]);
  // A date that has come since the change was ahead when the trait changed.
  const woken = await wakeDates(scope, [...since.keys()], since);
  return { woken: woken.length, isMore: changed.length === CHANGES_MAX };
};
