import { expect, test } from 'vitest';
import { dayOf, toDate } from '../../src/segments/moments.ts';
import { ValueTest } from '../../src/segments/value_schema.ts';
import { holds } from '../../src/segments/value_tests.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const TODAY = dayOf(Date.parse('2026-05-20T00:00:00Z'));
const MISSING = undefined;

type Value = Parameters<typeof holds>[0];
const askBoth = async (value: Value, given: ValueTest): Promise<boolean> => {
  const asked = ValueTest.parse(given);
  const { rows } = await database.owner.query<{ holds: boolean }>(
    'select segments.holds(value => $1, test => $2, today => $3) as holds',
    [value === undefined ? null : JSON.stringify(value), JSON.stringify(asked), toDate(TODAY)],
  );
  const inTypeScript = holds(value, asked, TODAY);
  expect(rows[0]?.holds).toBe(inTypeScript);
  return inTypeScript;
};

const decided: [string, Value, ValueTest, boolean][] = [
  ['a number and a text of it differ', '5', { is: 'equals', value: 5 }, false],
  ['5 and 5.0 are one number', 5.0, { is: 'equals', value: 5 }, true],
  ['case counts', 'Pro', { is: 'equals', value: 'pro' }, false],
  ['what is missing equals nothing', MISSING, { is: 'equals', value: 'pro' }, false],
  ['what is missing is not equal to anything', MISSING, { is: 'not_equals', value: 'pro' }, true],
  ['a list of a value is not the value', ['pro'], { is: 'equals', value: 'pro' }, false],
  ['a list of a value is not one of them', ['pro'], { is: 'one_of', values: ['pro'] }, false],
  ['what is missing is none of any', MISSING, { is: 'none_of', values: ['pro'] }, true],
  ['a value of the list is one of it', 'pro', { is: 'none_of', values: ['gold', 'pro'] }, false],
  ['another type is none of it', '5', { is: 'none_of', values: [5] }, true],
  ['and so is a list of a value', ['pro'], { is: 'none_of', values: ['pro'] }, true],
  ['what is missing does not exist', MISSING, { is: 'not_exists' }, true],
  ['an empty text does', '', { is: 'not_exists' }, false],
  ['a list contains its items', ['pro', 5], { is: 'contains', value: 5 }, true],
  ['but no part of an item', ['prof'], { is: 'contains', value: 'pro' }, false],
  ['nor an item of an item', [['pro']], { is: 'contains', value: 'pro' }, false],
  ['a text contains texts', 'a pro b', { is: 'contains', value: 'pro' }, true],
  ['a text contains no number', 'a5', { is: 'contains', value: 5 }, false],
  ['% stands for itself', 'abc', { is: 'starts_with', value: '%' }, false],
  ['a text is no number', '7', { is: 'greater', value: 5 }, false],
  ['an empty text is there', '', { is: 'exists' }, true],
  ['a removed trait is not', MISSING, { is: 'exists' }, false],
  [
    'whole numbers are exact up to 2^53 − 1',
    9_007_199_254_740_990,
    { is: 'less', value: 9_007_199_254_740_991 },
    true,
  ],
  [
    'a date is its midnight',
    '2026-05-20',
    { is: 'before', value: '2026-05-20T00:00:00.001Z' },
    true,
  ],
  [
    'offsets count',
    '2026-05-20T01:00:00+02:00',
    { is: 'before', value: '2026-05-20T00:00:00Z' },
    true,
  ],
  [
    'a time without offset is none',
    '2026-05-20T01:00:00',
    { is: 'before', value: '2099-01-01T00:00:00Z' },
    false,
  ],
  [
    'nor is a day that no month has',
    '2026-02-30',
    { is: 'before', value: '2099-01-01T00:00:00Z' },
    false,
  ],
  ['nor a number', 1_700_000_000, { is: 'before', value: '2099-01-01T00:00:00Z' }, false],
  ['one day is today', '2026-05-20T23:59:59.999Z', { is: 'within_last', days: 1 }, true],
  ['and not yesterday', '2026-05-19T23:59:59.999Z', { is: 'within_last', days: 1 }, false],
  ['what is in the future has not been', '2026-05-21', { is: 'within_last', days: 7 }, false],
  ['so many days and no more', '2026-05-14', { is: 'within_last', days: 7 }, true],
  ['a day earlier is out', '2026-05-13', { is: 'within_last', days: 7 }, false],
  ['the next days begin today', '2026-05-20T00:00:00Z', { is: 'within_next', days: 1 }, true],
  ['and not tomorrow', '2026-05-21', { is: 'within_next', days: 1 }, false],
  ['what has been is not next', '2026-05-19T23:59:59Z', { is: 'within_next', days: 7 }, false],
  ['so many days ahead and no more', '2026-05-26T23:59:59Z', { is: 'within_next', days: 7 }, true],
  ['a day later is not yet in', '2026-05-27', { is: 'within_next', days: 7 }, false],
  ['a birthday is today', '1990-05-20', { is: 'anniversary', days: 1 }, true],
  ['a birthday was yesterday', '1990-05-19', { is: 'anniversary', days: 1 }, false],
  ['a birthday is in a week', '1990-05-26', { is: 'anniversary', days: 7 }, true],
  ['the day itself is no anniversary', '2026-05-20', { is: 'anniversary', days: 1 }, false],
  ['nor is a day of this year', '2026-05-22', { is: 'anniversary', days: 30 }, false],
  ['the first is a year later', '2025-05-20', { is: 'anniversary', days: 1 }, true],
  ['a year has 366 days at most', '1990-05-19', { is: 'anniversary', days: 366 }, true],
  ['what is no date has no anniversary', 'spring', { is: 'anniversary', days: 366 }, false],
  ['what is missing has none', MISSING, { is: 'anniversary', days: 366 }, false],
];

test.each(decided)('%s', async (_name, value, given, isHeld) => {
  expect(await askBoth(value, given)).toBe(isHeld);
});
