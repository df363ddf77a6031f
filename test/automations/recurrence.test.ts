/// <reference lib="esnext.temporal" />
// When a schedule comes round: the examples of RFC 5545 as facts, what clocks do to a local time, and the limits.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findRuleFault, RULE_CHARS_MAX, RULE_COUNT_MAX } from '../../src/automations/recurrence.ts';
import { listOccurrences, nextOccurrence } from '../../src/automations/schedule.ts';
import type { Scheduled } from '../../src/automations/schedule.ts';
import { Definition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import { note } from './with_segments.ts';

type Given = { start: string; rule?: string; timezone?: string };

const definitionOf = ({ start, rule, timezone = 'UTC' }: Given) => ({
  trigger: {
    kind: 'schedule',
    segment_id: newId(),
    start,
    ...(rule === undefined ? {} : { rule }),
  },
  settings: { timezone },
  entry: 'note',
  steps: { note: note() },
});
const issuesOf = (given: Given) => {
  const { success, error } = Definition.safeParse(definitionOf(given));
  return success ? [] : (error?.issues ?? []).map(({ path, message }) => [path.join('/'), message]);
};
const listed = (given: Given, count = 5, from = given.start): string[] =>
  listOccurrences(
    Definition.parse(definitionOf(given)) as Scheduled,
    new Date(`${from}Z`),
    count,
  ).map(({ at }) => at.toISOString().slice(0, 16));
const days = (given: Given, count: number): string[] =>
  listed(given, count, '1990-01-01T00:00').map((at) => at.slice(0, 10));

/** RFC 5545 §3.8.5.3 gives these for starts in 1997 and 1998; a start here is of this century, 28 years later. */
test.each([
  ['FREQ=DAILY;COUNT=3', '2025-09-02T09:00', ['2025-09-02', '2025-09-03', '2025-09-04']],
  [
    'FREQ=DAILY;INTERVAL=10;COUNT=5',
    '2025-09-02T09:00',
    ['2025-09-02', '2025-09-12', '2025-09-22', '2025-10-02', '2025-10-12'],
  ],
  [
    'FREQ=WEEKLY;UNTIL=20251007T000000;WKST=SU;BYDAY=TU,TH',
    '2025-09-02T09:00',
    [
      '2025-09-02',
      '2025-09-04',
      '2025-09-09',
      '2025-09-11',
      '2025-09-16',
      '2025-09-18',
      '2025-09-23',
      '2025-09-25',
      '2025-09-30',
      '2025-10-02',
    ],
  ],
  [
    'FREQ=MONTHLY;COUNT=3;BYDAY=1FR',
    '2025-09-05T09:00',
    ['2025-09-05', '2025-10-03', '2025-11-07'],
  ],
  [
    'FREQ=MONTHLY;COUNT=3;BYDAY=-2MO',
    '2025-09-22T09:00',
    ['2025-09-22', '2025-10-20', '2025-11-17'],
  ],
  [
    'FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=3',
    '2025-09-28T09:00',
    ['2025-09-28', '2025-10-29', '2025-11-28'],
  ],
  [
    'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3',
    '2026-01-01T09:00',
    ['2026-02-13', '2026-03-13', '2026-11-13'],
  ],
  [
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3',
    '2025-09-29T09:00',
    ['2025-09-29', '2025-10-30', '2025-11-27'],
  ],
  [
    'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3',
    '2025-05-12T09:00',
    ['2025-05-12', '2026-05-11', '2027-05-17'],
  ],
  [
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=3',
    '2026-01-01T09:00',
    ['2028-02-29', '2032-02-29', '2036-02-29'],
  ],
])('%s from %s', (rule, start, expected) => {
  expect(days({ start, rule }, expected.length + 1)).toEqual(
    rule.includes('COUNT') || rule.includes('UNTIL') ? expected : expect.arrayContaining(expected),
  );
});

test('a start that its rule does not name is no occurrence', () => {
  expect(days({ start: '2026-11-29T09:00', rule: 'FREQ=WEEKLY;BYDAY=MO' }, 2)).toEqual([
    '2026-11-30',
    '2026-12-07',
  ]);
});

test('without a rule a schedule has one occurrence', () => {
  expect(
    listed({ start: '2026-11-29T09:00', timezone: 'Europe/Berlin' }, 5, '2026-01-01T00:00'),
  ).toEqual(['2026-11-29T08:00']);
});

// The clocks of three zones change on other days, and on Lord Howe by half an hour.
test.each([
  ['America/New_York', '2026-03-07T09:00', ['2026-03-07T14:00', '2026-03-08T13:00']],
  ['Europe/Berlin', '2026-03-28T09:00', ['2026-03-28T08:00', '2026-03-29T07:00']],
  ['Australia/Sydney', '2026-04-04T09:00', ['2026-04-03T22:00', '2026-04-04T23:00']],
  ['Australia/Lord_Howe', '2026-04-04T09:00', ['2026-04-03T22:00', '2026-04-04T22:30']],
])('nine in the morning stays nine in %s when its clocks change', (timezone, start, expected) => {
  expect(listed({ start, timezone, rule: 'FREQ=DAILY' }, 2, '2026-01-01T00:00')).toEqual(expected);
});

test('a local time that is left out is as much later, and one that comes twice is the first', () => {
  const daily = { timezone: 'Europe/Berlin', rule: 'FREQ=DAILY' };
  expect(listed({ ...daily, start: '2026-03-28T02:30' }, 3, '2026-01-01T00:00')).toEqual([
    '2026-03-28T01:30',
    '2026-03-29T01:30',
    '2026-03-30T00:30',
  ]);
  expect(listed({ ...daily, start: '2026-10-24T02:30' }, 3, '2026-01-01T00:00')).toEqual([
    '2026-10-24T00:30',
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
});

test('hours that clocks move onto one moment are one occurrence', () => {
  const hourly = { timezone: 'Europe/Berlin', rule: 'FREQ=HOURLY', start: '2026-03-29T00:30' };
  expect(listed(hourly, 4, '2026-01-01T00:00')).toEqual([
    '2026-03-28T23:30',
    '2026-03-29T00:30',
    '2026-03-29T01:30',
    '2026-03-29T02:30',
  ]);
});

test('UNTIL is a local time, itself included, and a day ends with its last minute', () => {
  const until = (text: string) =>
    days({ start: '2026-11-29T09:00', rule: `FREQ=DAILY;UNTIL=${text}` }, 5);
  expect(until('20261130T090000')).toEqual(['2026-11-29', '2026-11-30']);
  expect(until('20261130T085900')).toEqual(['2026-11-29']);
  expect(until('20261130')).toEqual(['2026-11-29', '2026-11-30']);
});

test('a rule is refused with the part that is wrong', () => {
  const faults: Record<string, string> = {
    'FREQ=MINUTELY': 'FREQ must be one of',
    'FREQ=SECONDLY': 'FREQ must be one of',
    'FREQ=DAILY;BYMINUTE=0,30': 'at most one occurrence an hour',
    'FREQ=DAILY;BYSECOND=1': 'a rule has no part "BYSECOND"',
    'FREQ=DAILY;BYHOUR=24': 'BYHOUR must be 0 to 23',
    'FREQ=DAILY;INTERVAL=0': 'INTERVAL must be 1 to 1000',
    'FREQ=DAILY;INTERVAL=1.5': 'INTERVAL must be 1 to 1000',
    'FREQ=DAILY;COUNT=2;UNTIL=20270101': 'leave one out',
    'FREQ=DAILY;UNTIL=20270101T000000Z': 'UNTIL must be a local day or time',
    'FREQ=DAILY;UNTIL=20270230': 'UNTIL must be a local day or time',
    'FREQ=DAILY;FREQ=WEEKLY': 'stands twice',
    'FREQ=MONTHLY;BYMONTHDAY=0': 'BYMONTHDAY must be 1 to 31',
    'FREQ=MONTHLY;BYDAY=XX': 'BYDAY must be weekdays',
    'FREQ=WEEKLY;WKST=MO,TU': 'WKST must be a weekday',
    'DTSTART:20260101T090000\nRRULE:FREQ=DAILY': 'a rule has no part',
    'COUNT=3': 'a rule needs FREQ',
    'FREQ=YEARLY;RSCALE=HEBREW': 'a rule has no part "RSCALE"',
    '__proto__=1': 'a rule has no part "__proto__"',
    '': 'a rule has no part ""',
  };
  for (const [rule, fault] of Object.entries(faults))
    expect([rule, findRuleFault(rule)]).toEqual([rule, expect.stringContaining(fault)]);
});

test('a rule has limits, and they can be reached', () => {
  const start = '2026-11-29T09:00';
  expect(issuesOf({ start, rule: `FREQ=DAILY;COUNT=${RULE_COUNT_MAX}` })).toEqual([]);
  expect(issuesOf({ start, rule: `FREQ=DAILY;COUNT=${RULE_COUNT_MAX + 1}` })).toHaveLength(1);
  const long = (chars: number) =>
    `FREQ=YEARLY;BYMONTH=${'1,'.repeat(chars)}`.slice(0, chars - 1) + '1';
  expect(issuesOf({ start, rule: long(RULE_CHARS_MAX) })).toEqual([]);
  expect(issuesOf({ start, rule: long(RULE_CHARS_MAX + 1) })).toHaveLength(1);
  expect(
    days({ start, rule: `FREQ=DAILY;COUNT=${RULE_COUNT_MAX}` }, RULE_COUNT_MAX + 1),
  ).toHaveLength(RULE_COUNT_MAX);
});

test('a rule without an occurrence is refused, and a start that is no local time', () => {
  const start = '2026-11-29T09:00';
  const message = 'this rule has no occurrence: no day is as it says';
  for (const rule of ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=DAILY;UNTIL=20261128'])
    expect([rule, issuesOf({ start, rule })]).toEqual([rule, [['trigger/rule', message]]]);
  for (const wrong of [
    '2026-11-31T09:00',
    '2026-11-29',
    '2026-11-29T09:00Z',
    '1999-01-01T09:00',
    '',
  ])
    expect([wrong, issuesOf({ start: wrong, rule: 'FREQ=DAILY' })]).toEqual([
      wrong,
      [['trigger/start', expect.stringContaining('must be a local time')]],
    ]);
});

test('an hourly rule of many years is asked for its next occurrence within a moment', () => {
  const given = { start: '2000-01-01T00:15', rule: 'FREQ=HOURLY;INTERVAL=7' };
  const before = performance.now();
  expect(listed(given, 2, '2090-06-01T00:00')).toHaveLength(2);
  expect(performance.now() - before).toBeLessThan(2_000);
});

const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
/** Rules of days, each with what says of a day that it is one of them. */
const anyRule = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((every) => ({
    rule: `FREQ=DAILY;INTERVAL=${every}`,
    isOn: (day: Temporal.PlainDate, first: Temporal.PlainDate) =>
      first.until(day, { largestUnit: 'day' }).days % every === 0,
  })),
  fc.subarray(DAYS, { minLength: 1 }).map((days) => ({
    rule: `FREQ=WEEKLY;BYDAY=${days.join(',')}`,
    isOn: (day: Temporal.PlainDate) => days.includes(DAYS[day.dayOfWeek - 1] ?? ''),
  })),
  fc.integer({ min: 1, max: 31 }).map((date) => ({
    rule: `FREQ=MONTHLY;BYMONTHDAY=${date}`,
    isOn: (day: Temporal.PlainDate) => day.day === date,
  })),
  fc.constantFrom(...DAYS).map((name) => ({
    rule: `FREQ=MONTHLY;BYDAY=-1${name}`,
    isOn: (day: Temporal.PlainDate) =>
      DAYS[day.dayOfWeek - 1] === name && day.add({ days: 7 }).month !== day.month,
  })),
);
const anyZone = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/St_Johns',
);

test('property: the next occurrence is the first day of the rule whose time comes after, in any zone', () => {
  const MINUTES_OF_DAY = 1_440;
  fc.assert(
    fc.property(
      anyRule,
      anyZone,
      fc.integer({ min: 0, max: MINUTES_OF_DAY - 1 }),
      fc.integer({ min: 0, max: 800 * MINUTES_OF_DAY }),
      ({ rule, isOn }, timezone, minute, minutesLater) => {
        const first = Temporal.PlainDate.from('2026-02-03');
        const time = Temporal.PlainTime.from('00:00').add({ minutes: minute });
        const after = new Date(Date.parse('2026-02-01T00:00:00Z') + minutesLater * 60_000);
        const momentOf = (day: Temporal.PlainDate): number =>
          day.toPlainDateTime(time).toZonedDateTime(timezone).epochMilliseconds;
        let day = first;
        while (!isOn(day, first) || momentOf(day) <= after.getTime()) day = day.add({ days: 1 });
        const start = first.toPlainDateTime(time).toString({ smallestUnit: 'minute' });
        const given = definitionOf({ start, rule, timezone });
        const next = nextOccurrence(Definition.parse(given) as Scheduled, after);
        expect(next?.at.getTime()).toBe(momentOf(day));
      },
    ),
    { numRuns: 300 },
  );
});

test('attack: a rule that no day fits is refused within a moment', () => {
  const before = performance.now();
  for (const rule of [
    'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=31',
    'FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO;BYSETPOS=2',
    `FREQ=HOURLY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=30;COUNT=${RULE_COUNT_MAX}`,
  ])
    expect([rule, issuesOf({ start: '2026-11-29T09:00', rule })]).toEqual([
      rule,
      [['trigger/rule', expect.stringContaining('no occurrence')]],
    ]);
  expect(performance.now() - before).toBeLessThan(5_000);
});
