import { firstZone, nextTimeOfDay, onDate } from '../clock.ts';
import { valueOf } from '../comparison.ts';
import type { StepOf } from '../step_schema.ts';
import type { Take, Walk } from '../world.ts';

const findMoment = ({ now, person, zone: own }: Walk, step: StepOf<'delay_until'>): Date | null => {
  const zone = firstZone(step.timezone, own);
  const { until } = step;
  if (!('trait' in until)) return nextTimeOfDay(now, until, zone);
  return onDate(valueOf(person.traits, until.trait), until, now, zone);
};

/** Waits for a time of day, or for a moment that is relative to a date of the person's. */
export const delayUntil: Take<'delay_until'> = (walk, step) => {
  const { run, now } = walk;
  if (run.until !== null) {
    if (now < run.until) return { kind: 'waits', until: run.until };
    return { kind: 'goes_on', next: step.next, decision: 'delay_over' };
  }
  const until = findMoment(walk, step);
  if (until === null) {
    const trait = 'trait' in step.until ? step.until.trait : '';
    return { kind: 'goes_on', next: step.otherwise, decision: 'no_date_ahead', detail: { trait } };
  }
  return { kind: 'waits', until, decision: 'delayed', detail: { until: until.toISOString() } };
};
