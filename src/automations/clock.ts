/// <reference lib="esnext.temporal" />
import { LAST_MS } from '../base/moment.ts';

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const DAYS_PER_WEEK = 7;
/** The longest year there is. */
const YEAR_DAYS_MAX = 366;
const SOME_LEAP_YEAR = '2024-01-01';

const toZoned = (at: Date, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
const toDate = (at: Temporal.ZonedDateTime): Date => new Date(at.epochMilliseconds);

const readDuration = (text: string): Temporal.Duration | null => {
  try {
    return Temporal.Duration.from(text);
  } catch {
    return null;
  }
};

/** Whether a text is an ISO 8601 duration of either sign that is no longer than a year. */
export const isSignedDuration = (text: string): boolean => {
  const duration = readDuration(text);
  if (duration === null) return false;
  try {
    const days = duration.abs().total({ unit: 'days', relativeTo: SOME_LEAP_YEAR });
    return days <= YEAR_DAYS_MAX;
  } catch {
    return false;
  }
};

/** The same, and longer than nothing: `PT2H`, `P3D`, `P1M`. */
export const isDuration = (text: string): boolean =>
  isSignedDuration(text) && readDuration(text)?.sign === 1;

/** Whether a duration is over before a clock that tells milliseconds has moved. */
export const takesNoTime = (text: string): boolean =>
  isDuration(text) &&
  (readDuration(text)?.total({ unit: 'milliseconds', relativeTo: SOME_LEAP_YEAR }) ?? 0) < 1;

/** No name of the IANA database is as long. */
const ZONE_CHARS_MAX = 64;
/** How many names are remembered, of zones and of none: there are some 600 zones, and people may say anything. */
export const ZONES_REMEMBERED_MAX = 2_000;
const known = new Map<string, boolean>();

/**
 * Both have to know it. `Intl` takes names of old Java that Temporal does not, such as `PST`, and Temporal takes whole
 * timestamps.
 */
const askForZone = (timeZone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone);
    return true;
  } catch {
    return false;
  }
};

/** Whether this machine knows the time zone: an IANA name. Asked once for a name: to ask is dear. */
export const isZone = (name: unknown): name is string => {
  if (typeof name !== 'string' || name.length > ZONE_CHARS_MAX || /^[+-]/.test(name)) return false;
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= ZONES_REMEMBERED_MAX) known.clear();
  const isKnown = askForZone(name);
  known.set(name, isKnown);
  return isKnown;
};

/** The first of these that is a time zone. */
export const firstZone = (...names: unknown[]): string => names.find(isZone) ?? 'UTC';

/**
 * A duration later. Hours are hours; days, weeks and months are those of a calendar on the wall of a zone: three
 * days later it is the same time of day, also when the clocks were changed, and a month after 31 January is the
 * last of February.
 */
export const later = (at: Date, duration: string, zone: string): Date =>
  toDate(toZoned(at, zone).add(Temporal.Duration.from(duration)));

/** A duration as everybody reads it, Postgres too. */
export const canonicalDuration = (duration: string): string =>
  Temporal.Duration.from(duration).toString();

/** As long before. */
export const earlier = (at: Date, duration: string, zone: string): Date =>
  toDate(toZoned(at, zone).subtract(Temporal.Duration.from(duration)));

/** The moment of a local time, as `2026-01-31T09:00`. Of clock changes the same holds as for a time of day. */
export const atLocalTime = (local: string, zone: string): Date =>
  toDate(Temporal.PlainDateTime.from(local).toZonedDateTime(zone));

/** What a clock on the wall of a zone shows at a moment, to the minute. */
export const localTimeAt = (at: Date, zone: string): string =>
  toZoned(at, zone).toPlainDateTime().toString({ smallestUnit: 'minute' });

/** A year holds all weekdays on all dates that matter; a date that no zone has is passed over. */
const DAYS_LOOKED_AHEAD = DAYS_PER_WEEK + 1;

/**
 * The next moment, from now on, at which a clock on the wall of the zone shows the time, on one of the weekdays.
 * A time that is left out when clocks go forward is the moment they do; one that comes twice is the first.
 */
export const nextTimeOfDay = (
  from: Date,
  { time, weekdays = WEEKDAYS }: { time: string; weekdays?: readonly Weekday[] | undefined },
  zone: string,
): Date => {
  const today = toZoned(from, zone).toPlainDate();
  for (let ahead = 0; ahead <= DAYS_LOOKED_AHEAD; ahead += 1) {
    const day = today.add({ days: ahead });
    const weekday = WEEKDAYS[day.dayOfWeek - 1];
    const at = toDate(day.toZonedDateTime({ timeZone: zone, plainTime: time }));
    if (weekday !== undefined && weekdays.includes(weekday) && at >= from) return at;
  }
  throw new RangeError(`no ${time} on ${weekdays.join(', ')} in ${zone}`);
};

/** A day of a calendar, at midnight in the zone; or a moment. Null for whatever is neither. */
const readMoment = (value: unknown, zone: string): Temporal.ZonedDateTime | null => {
  if (typeof value !== 'string') return null;
  try {
    return /^\d{4}-\d{2}-\d{2}$/.test(value)
      ? Temporal.PlainDate.from(value).toZonedDateTime(zone)
      : Temporal.Instant.from(value).toZonedDateTimeISO(zone);
  } catch {
    return null;
  }
};

export type DateRule = {
  /** So long after the date; before it with a minus. */
  offset?: string | undefined;
  /** The time of day in the zone. */
  time?: string | undefined;
  repeats?: 'yearly' | undefined;
};

const atTime = (
  day: Temporal.ZonedDateTime,
  { offset, time }: DateRule,
  zone: string,
): Temporal.ZonedDateTime => {
  const moved = offset === undefined ? day : day.add(Temporal.Duration.from(offset));
  return time === undefined
    ? moved
    : moved.toPlainDate().toZonedDateTime({ timeZone: zone, plainTime: time });
};

const findDue = (value: unknown, rule: DateRule, now: Date, zone: string): Date | null => {
  const given = readMoment(value, zone);
  if (given === null) return null;
  if (rule.repeats !== 'yearly') {
    const at = toDate(atTime(given, rule, zone));
    return at >= now ? at : null;
  }
  const { year } = toZoned(now, zone);
  for (const ahead of [-1, 0, 1, 2]) {
    const at = toDate(atTime(given.add({ years: year + ahead - given.year }), rule, zone));
    if (at >= now) return at;
  }
  return null;
};

/**
 * When something that is relative to a date is due: null when the value is no date, or the moment has passed.
 * Yearly it is the next one; 29 February is 28 February in years without.
 */
export const onDate = (value: unknown, rule: DateRule, now: Date, zone: string): Date | null => {
  try {
    const at = findDue(value, rule, now, zone);
    return at === null || at.getTime() > LAST_MS ? null : at;
  } catch (error) {
    // Beyond the end of all calendars.
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/**
 * When quiet hours that hold now end, or null when none do. They may reach over midnight; `from` is in them. They end
 * the second time that the wall shows `to`, where it does so twice. `base.quiet_until` is the same in SQL.
 */
export const quietUntil = (
  now: Date,
  { from, to }: { from: string; to: string },
  zone: string,
): Date | null => {
  const wall = toZoned(now, zone);
  const time = wall.toPlainTime();
  const isPast = (text: string) =>
    Temporal.PlainTime.compare(time, Temporal.PlainTime.from(text)) >= 0;
  const isQuiet = from < to ? isPast(from) && !isPast(to) : isPast(from) || !isPast(to);
  if (!isQuiet) return null;
  for (let day = wall.toPlainDate(); ; day = day.add({ days: 1 })) {
    const end = day.toPlainDateTime(to).toZonedDateTime(zone, { disambiguation: 'later' });
    if (end.epochMilliseconds > now.getTime()) return toDate(end);
  }
};
