import { firstZone, nextTimeOfDay, onDate } from '../clock.ts';
import { valueOf } from '../value_of.ts';
import { listFollowed } from '../dates.ts';
import type { StepOf } from '../step_schema.ts';
import type { Take, Taken, Walk } from '../world.ts';

/** A run with as many decisions logs no other move of its date, so that moves alone never end it. */
export const MOVES_LOGGED_MAX = 100;

/** Returns the first moment from `from` on that the step waits for; null where there is none. */
const findMoment = (
  { person, zone: own }: Walk,
  { until, timezone }: StepOf<'delay_until'>,
  from: Date,
): Date | null => {
  const zone = firstZone(timezone, own);
  if (!('trait' in until)) return nextTimeOfDay(from, until, zone);
  return onDate(valueOf(person.traits, until.trait), until, from, zone);
};

const noDate = ({ until, otherwise }: StepOf<'delay_until'>): Taken => ({
  kind: 'goes_on',
  next: otherwise,
  decision: 'no_date_ahead',
  detail: { trait: 'trait' in until ? until.trait : '' },
});

const begin = (walk: Walk, step: StepOf<'delay_until'>): Taken => {
  const until = findMoment(walk, step, walk.now);
  if (until === null) return noDate(step);
  const detail = { until: until.toISOString() };
  return { kind: 'waits', until, follows: listFollowed(step), decision: 'delayed', detail };
};

/** What comes of a wait for a date, which may have moved since the run began to wait. */
const waitForDate = ({ walk, step }: { walk: Walk; step: StepOf<'delay_until'> }, before: Date) => {
  const { run, now, dueAt } = walk;
  // A date that came while the run was due, or while its change was noted, is in the past by now.
  const from = new Date(Math.min(now.getTime(), before.getTime(), dueAt.getTime()));
  const until = findMoment(walk, step, from);
  if (until === null) return noDate(step);
  if (now >= until) return over(step);
  const waits = { kind: 'waits', until, follows: listFollowed(step) } as const;
  if (until.getTime() === before.getTime() || run.entries >= MOVES_LOGGED_MAX) return waits;
  const detail = { until: until.toISOString(), before: before.toISOString() };
  return { ...waits, decision: 'date_moved', detail };
};

const over = ({ next }: StepOf<'delay_until'>): Taken => ({
  kind: 'goes_on',
  next,
  decision: 'delay_over',
});

/**
 * Waits for a time of day, or for a moment that is relative to a date of the person. When the date moves, the wait
 * moves with it. When the date is removed, or moves into the past, the run goes on at `otherwise`.
 */
export const delayUntil: Take<'delay_until'> = (walk, step) => {
  const { run, now } = walk;
  if (run.until === null) return begin(walk, step);
  // A test waits for seconds, whatever the date.
  if ('trait' in step.until && !run.is_test) return waitForDate({ walk, step }, run.until);
  return now < run.until ? { kind: 'waits', until: run.until } : over(step);
};
