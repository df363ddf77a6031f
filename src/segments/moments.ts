import { FIRST_MS, LAST_MS } from '../base/moment.ts';

export const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

const MOMENT_CHARS_MAX = 40;
const DATE = /(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/;
const TIME = /([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?/;
const OFFSET = /(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))/;
const MOMENT = new RegExp(`^${DATE.source}(?:[Tt]${TIME.source}${OFFSET.source})?$`);

const numberOf = (part: string | undefined): number => Number(part ?? '0');

/** Midnight of a date that exists, in milliseconds; null where the month has no such day. */
const midnightOf = (year: number, month: number, day: number): number | null => {
  const date = new Date(0);
  // Not Date.UTC, which takes the years before 100 for years of the last century.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day && year > 0 ? date.getTime() : null;
};

/**
 * The moment that a value says, in milliseconds: an RFC 3339 timestamp with offset, or a date, which is
 * its midnight UTC. Anything else is no moment, and null: numbers too, since nobody knows their unit.
 * In UTC it lies in the years 1 to 9999: an offset may lead out of them.
 * The same rule as `segments.read_moment`.
 */
export const readMoment = (value: unknown): number | null => {
  if (typeof value !== 'string' || value.length > MOMENT_CHARS_MAX) return null;
  const parts = MOMENT.exec(value);
  if (!parts) return null;
  const [, year, month, day, hours, minutes, seconds, fraction, sign, offsetHours, offsetMinutes] =
    parts;
  const midnight = midnightOf(numberOf(year), numberOf(month), numberOf(day));
  if (midnight === null) return null;
  const offset = (numberOf(offsetHours) * 60 + numberOf(offsetMinutes)) * MINUTE_MS;
  const at =
    midnight +
    (numberOf(hours) * 60 + numberOf(minutes)) * MINUTE_MS +
    numberOf(seconds) * 1_000 +
    Number((fraction ?? '').slice(0, 3).padEnd(3, '0')) -
    (sign === '-' ? -offset : offset);
  return at >= FIRST_MS && at <= LAST_MS ? at : null;
};

/** The day of a moment, counted from 1970, in UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

const inYear = (day: Date, year: number): Date => {
  const date = new Date(0);
  date.setUTCFullYear(year, day.getUTCMonth(), day.getUTCDate());
  // The last of February, in a year without 29 February.
  if (date.getUTCDate() !== day.getUTCDate()) date.setUTCDate(0);
  return date;
};

/**
 * The first anniversary of a day that is not before today: at least a year after the day. 29 February has its
 * anniversary on 28 February in years without one. The same rule as `segments.next_anniversary`.
 */
export const nextAnniversary = (day: number, today: number): number => {
  const date = new Date(day * DAY_MS);
  const first = date.getUTCFullYear() + 1;
  const year = Math.max(first, new Date(today * DAY_MS).getUTCFullYear());
  const at = dayOf(inYear(date, year).getTime());
  return at >= today ? at : dayOf(inYear(date, year + 1).getTime());
};

/** A day as Postgres reads and writes it. */
export const toDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
