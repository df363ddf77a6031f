import type { z } from 'zod';
import { dayOf, nextAnniversary, readMoment } from './moments.ts';
import type { Filter, ValueTest } from './value_schema.ts';

type Json = z.core.util.JSONType;

const contains = (value: Json, wanted: string | number | boolean): boolean => {
  if (Array.isArray(value)) return value.includes(wanted);
  return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted);
};

const compareMoments = (value: Json, other: string): number => {
  const [left, right] = [readMoment(value), readMoment(other)];
  return left === null || right === null ? Number.NaN : left - right;
};

type DayTest = Extract<ValueTest, { days: number }>;

/** How many days lie between today and the day that a test asks about. Negative if it lies the other way. */
const distanceOf = ({ is }: DayTest, day: number, today: number): number => {
  if (is === 'within_last') return today - day;
  return (is === 'within_next' ? day : nextAnniversary(day, today)) - today;
};

const isWithin = (test: DayTest, day: number, today: number): boolean => {
  const distance = distanceOf(test, day, today);
  return distance >= 0 && distance < test.days;
};

const PASSED_BY_MISSING: readonly string[] = ['not_equals', 'none_of', 'not_exists'];

/**
 * Whether a value passes a test; undefined is one that is missing. The same rule as `segments.holds`:
 *
 * | | |
 * |---|---|
 * | missing | passes `not_equals`, `none_of`, `not_exists` and nothing else; a removed trait (null) is missing |
 * | types | are never turned into each other: 5 and "5" differ, and a text is no number |
 * | `equals` | for texts, numbers and booleans; a list or an object equals none of them |
 * | `not_equals` | whatever does not pass `equals`, so what is missing, too; `none_of` alike |
 * | `contains` | a text has the text somewhere in it, case counts; a list has the value as an item of its own |
 * | `greater`, `less` … | numbers only; whole ones beyond 2^53 − 1 are not taken in, so none is rounded |
 * | `before`, `after` | texts that are RFC 3339 timestamps or dates, to the millisecond; others pass neither |
 * | `within_last` | the same, by whole days in UTC: `days: 1` is today. A day in the future does not pass |
 * | `within_next` | the same, of today and the days after it. A day in the past does not pass |
 * | `anniversary` | the same, of the day in a later year; 28 February for 29 February in years without one |
 */
export const holds = (value: Json | undefined, test: ValueTest, today: number): boolean => {
  if (value === undefined) return PASSED_BY_MISSING.includes(test.is);
  switch (test.is) {
    case 'exists':
      return true;
    case 'not_exists':
      return false;
    case 'equals':
      return value === test.value;
    case 'not_equals':
      return value !== test.value;
    case 'one_of':
      return test.values.some((one) => one === value);
    case 'none_of':
      return test.values.every((one) => one !== value);
    case 'contains':
      return contains(value, test.value);
    case 'starts_with':
      return typeof value === 'string' && value.startsWith(test.value);
    case 'greater':
      return typeof value === 'number' && value > test.value;
    case 'at_least':
      return typeof value === 'number' && value >= test.value;
    case 'less':
      return typeof value === 'number' && value < test.value;
    case 'at_most':
      return typeof value === 'number' && value <= test.value;
    case 'before':
      return compareMoments(value, test.value) < 0;
    case 'after':
      return compareMoments(value, test.value) > 0;
    case 'within_last':
    case 'within_next':
    case 'anniversary': {
      const moment = readMoment(value);
      return moment !== null && isWithin(test, dayOf(moment), today);
    }
  }
};

type Values = Readonly<Record<string, Json>>;

/** Returns the first filter that the properties of an event do not pass; null where they pass all of them. */
export const findFailing = (filters: readonly Filter[], properties: Values): Filter | null =>
  filters.find(({ property, test }) => {
    const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
    return !holds(value, test, 0);
  }) ?? null;
