/// <reference lib="esnext.temporal" />
// The one place that asks the library of recurrence rules. It is asked for times on a wall, as if they were of UTC:
// what a zone makes of such a time is decided in schedule.ts, by the rules of this project.
import { RRuleTemporal } from 'rrule-temporal';

export const RULE_CHARS_MAX = 500;
export const RULE_COUNT_MAX = 1_000;
/** How many periods of a rule are looked through for its next occurrence: 27 years of days. */
const PERIODS_MAX = 10_000;
const CANDIDATES_MAX = 100_000;

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY'];
const INTERVAL_MAX = 1_000;
const HOURS_MAX = 23;
const MINUTES_MAX = 59;
const MONTHS_MAX = 12;
const MONTH_DAYS_MAX = 31;
const YEAR_DAYS_MAX = 366;
const WEEKS_MAX = 53;

const WEEKDAY = /^(?:[+-]?(?:[1-9]|[1-4]\d|5[0-3]))?(?:MO|TU|WE|TH|FR|SA|SU)$/;
const NUMBER = /^[+-]?\d{1,9}$/;
const DAY_OR_TIME = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2}))?$/;

const isWithin = (text: string, from: number, to: number): boolean =>
  NUMBER.test(text) && Number(text) >= from && Number(text) <= to;
const within =
  (from: number, to: number) =>
  (texts: readonly string[]): boolean =>
    texts.every((text) => isWithin(text, from, to));
/** From the first, or from the last backwards. */
const fromEither =
  (to: number) =>
  (texts: readonly string[]): boolean =>
    texts.every((text) => isWithin(text, -to, to) && Number(text) !== 0);
const one =
  (check: (text: string) => boolean) =>
  (texts: readonly string[]): boolean =>
    texts.length === 1 && texts.every(check);

const readUntil = (text: string): Temporal.PlainDateTime | null => {
  const [, year, month, day, hour = '23', minute = '59', second = '59'] =
    DAY_OR_TIME.exec(text) ?? [];
  if (year === undefined) return null;
  try {
    return Temporal.PlainDateTime.from(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  } catch {
    return null;
  }
};

/** The parts of a rule, which values each accepts, and the message for others. */
const PARTS: Record<string, { isGood: (texts: readonly string[]) => boolean; wanted: string }> = {
  FREQ: {
    isGood: one((text) => FREQUENCIES.includes(text)),
    wanted: `one of ${FREQUENCIES.join(', ')}: a schedule has at most one occurrence an hour`,
  },
  INTERVAL: {
    isGood: one((text) => isWithin(text, 1, INTERVAL_MAX)),
    wanted: `1 to ${INTERVAL_MAX}`,
  },
  COUNT: {
    isGood: one((text) => isWithin(text, 1, RULE_COUNT_MAX)),
    wanted: `1 to ${RULE_COUNT_MAX}`,
  },
  UNTIL: {
    isGood: one((text) => readUntil(text) !== null),
    wanted: 'a local day or time, as the start is: 20261231 or 20261231T090000',
  },
  BYHOUR: { isGood: within(0, HOURS_MAX), wanted: `0 to ${HOURS_MAX}` },
  BYMINUTE: {
    isGood: one((text) => isWithin(text, 0, MINUTES_MAX)),
    wanted: `one minute, 0 to ${MINUTES_MAX}: a schedule has at most one occurrence an hour`,
  },
  BYDAY: {
    isGood: (texts) => texts.every((text) => WEEKDAY.test(text)),
    wanted: 'weekdays such as MO, or -1FR for the last Friday',
  },
  BYMONTH: { isGood: within(1, MONTHS_MAX), wanted: `1 to ${MONTHS_MAX}` },
  BYMONTHDAY: { isGood: fromEither(MONTH_DAYS_MAX), wanted: '1 to 31, or -1 for the last' },
  BYYEARDAY: { isGood: fromEither(YEAR_DAYS_MAX), wanted: '1 to 366, or -1 for the last' },
  BYWEEKNO: { isGood: fromEither(WEEKS_MAX), wanted: '1 to 53, or -1 for the last' },
  BYSETPOS: { isGood: fromEither(YEAR_DAYS_MAX), wanted: '1 to 366, or -1 for the last' },
  WKST: {
    isGood: one((text) => /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(text)),
    wanted: 'a weekday such as MO',
  },
};

const splitParts = (rule: string): [name: string, value: string][] =>
  rule.split(';').map((part) => {
    const [name = '', ...rest] = part.split('=');
    return [name, rest.join('=')];
  });

const findPartFault = ([name, value]: [string, string]): string | null => {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (part === undefined)
    return `a rule has no part "${name}": take ${Object.keys(PARTS).join(', ')}`;
  return part.isGood(value.split(',')) ? null : `${name} must be ${part.wanted}`;
};

/** Returns what is wrong with the text of a rule; null where nothing is. */
export const findRuleFault = (rule: string): string | null => {
  const parts = splitParts(rule);
  const names = parts.map(([name]) => name);
  const fault = parts.map(findPartFault).find((found) => found !== null);
  if (fault !== undefined) return fault;
  if (new Set(names).size < names.length) return 'a part stands twice in the rule: leave one out';
  if (!names.includes('FREQ')) return 'a rule needs FREQ, such as FREQ=WEEKLY';
  return names.includes('COUNT') && names.includes('UNTIL')
    ? 'a rule ends by COUNT or by UNTIL: leave one out'
    : null;
};

export type Recurrence = {
  /** A local time, such as 2026-01-31T09:00. */
  start: string;
  rule?: string | undefined;
};

const ofUtc = (local: Temporal.PlainDateTime): Temporal.ZonedDateTime =>
  local.toZonedDateTime('UTC');

/** The library asks for UNTIL in UTC, which is where it calculates. */
const toUtcRule = (rule: string): string =>
  splitParts(rule)
    .map(([name, value]) => {
      const until = name === 'UNTIL' ? readUntil(value) : null;
      if (until === null) return `${name}=${value}`;
      return `UNTIL=${until.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')}Z`;
    })
    .join(';');

const localOf = (at: { toString: () => string }): string =>
  Temporal.PlainDateTime.from(at.toString().replace(/\[.*$/, '')).toString({
    smallestUnit: 'minute',
  });

/** A rule. One with COUNT has its occurrences beside it: the library counts all of them each time that it is asked. */
type Known = { rule: RRuleTemporal; counted: string[] | null };
const rules = new Map<string, Known>();
const RULES_REMEMBERED_MAX = 200;

const listCounted = (rule: RRuleTemporal): string[] => {
  const listed: string[] = [];
  try {
    rule.all((at) => listed.push(localOf(at)) <= RULE_COUNT_MAX);
  } catch {
    // It looked through all periods that it may: these are all within them.
  }
  return listed;
};

const ruleOf = (start: string, text: string): Known => {
  const key = `${start} ${text}`;
  const known = rules.get(key);
  if (known) return known;
  const rule = new RRuleTemporal({
    rruleString: toUtcRule(text),
    dtstart: ofUtc(Temporal.PlainDateTime.from(start)),
    maxIterations: PERIODS_MAX,
    maxCandidateEvaluations: CANDIDATES_MAX,
  });
  const made = { rule, counted: text.includes('COUNT=') ? listCounted(rule) : null };
  if (rules.size >= RULES_REMEMBERED_MAX) rules.clear();
  rules.set(key, made);
  return made;
};

const nextOf = ({ rule, counted }: Known, from: string, isInclusive: boolean): string | null => {
  if (counted !== null)
    return counted.find((at) => at > from || (isInclusive && at === from)) ?? null;
  const found = rule.next(ofUtc(Temporal.PlainDateTime.from(from)), isInclusive);
  return found === null ? null : localOf(found);
};

/**
 * Returns the first local time of a recurrence from one on, or after it; null where there is none, or none within
 * PERIODS_MAX periods.
 */
export const nextLocal = (
  { start, rule }: Recurrence,
  from: string,
  isInclusive: boolean,
): string | null => {
  if (rule === undefined) return start > from || (isInclusive && start === from) ? start : null;
  try {
    return nextOf(ruleOf(start, rule), from, isInclusive);
  } catch {
    // It looked through all periods that it may, or came to the end of all calendars.
    return null;
  }
};
