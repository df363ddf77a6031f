import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { atLocalTime, localTimeAt } from './clock.ts';
import { nextLocal } from './recurrence.ts';
import type { Definition } from './schema.ts';
import type { Schedule } from './schedule_schema.ts';

/** An occurrence that is later than this starts no people: the service was down, or the automation paused. */
export const OCCURRENCE_LATE_MAX_MS = 3_600_000;
/** How many occurrences to come are shown. */
export const OCCURRENCES_SHOWN = 5;

/** Clocks are moved by less than that: an earlier local time is never the later moment. */
const CLOCK_CHANGE_MAX_MS = 10_800_000;

/** The zones that have a local time first and last. */
const FIRST_ZONE = '+14:00';
const LAST_ZONE = '-12:00';
const ZONES_SPAN_MS = 26 * 3_600_000;

/** The local time of an occurrence, such as 2026-01-31T09:00, and when that is. */
export type Occurrence = { occurrence: string; at: Date };
/** A definition whose trigger is a schedule. */
export type Scheduled = Definition & { trigger: Schedule };
/** What its times depend on. */
type Times = {
  trigger: Pick<Schedule, 'start' | 'rule' | 'zone'>;
  settings: Pick<Definition['settings'], 'timezone'>;
};

export const isScheduled = (definition: Definition): definition is Scheduled =>
  definition.trigger.kind === 'schedule';

/** In which zone the moment of an occurrence is: the automation's, or the first that has it. */
const zoneOf = ({ trigger, settings }: Times): string =>
  trigger.zone === 'person' ? FIRST_ZONE : settings.timezone;

/** For how long an occurrence comes, from one zone to the next. */
export const spanOf = ({ trigger }: Times): number =>
  trigger.zone === 'person' ? ZONES_SPAN_MS : 0;

/** When an occurrence is over everywhere. */
export const lastMomentOf = ({ trigger, settings }: Times, occurrence: string): Date =>
  atLocalTime(occurrence, trigger.zone === 'person' ? LAST_ZONE : settings.timezone);

/**
 * Returns when an occurrence is. A local time that is left out when clocks go forward is as much later; one that comes
 * twice is the first.
 */
export const momentOf = (definition: Times, occurrence: string): Date =>
  atLocalTime(occurrence, zoneOf(definition));

/** Whether it is too late to start people whose moment that was. */
export const isPast = (moment: Date, now: Date): boolean =>
  now.getTime() - moment.getTime() > OCCURRENCE_LATE_MAX_MS;

/** Returns the first occurrence after a moment; of those that clocks move onto one moment only the first. */
export const nextOccurrence = (definition: Times, after: Date): Occurrence | null => {
  const { trigger } = definition;
  const from = new Date(after.getTime() - CLOCK_CHANGE_MAX_MS);
  let found = nextLocal(trigger, localTimeAt(from, zoneOf(definition)), true);
  while (found !== null) {
    const at = momentOf(definition, found);
    if (at > after) return { occurrence: found, at };
    found = nextLocal(trigger, found, false);
  }
  return null;
};

/** Lists the first occurrences after a moment, and the moment's own where that is one. */
export const listOccurrences = (definition: Times, from: Date, count: number): Occurrence[] => {
  const listed: Occurrence[] = [];
  let after = new Date(from.getTime() - 1);
  while (listed.length < count) {
    const next = nextOccurrence(definition, after);
    if (next === null) break;
    listed.push(next);
    after = next.at;
  }
  return listed;
};

/** Returns the id of the start of an occurrence: always the same one, sorted by its time. */
export const occurrenceId = (automationId: string, { occurrence, at }: Occurrence): string => {
  const random = createHash('sha256').update(`${automationId} ${occurrence}`).digest();
  return v7({ msecs: at.getTime(), random: random.subarray(0, 16) });
};
