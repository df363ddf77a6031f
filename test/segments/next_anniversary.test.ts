import { expect, test } from 'vitest';
import { dayOf, nextAnniversary, toDate } from '../../src/segments/moments.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const toDay = (text: string): number => dayOf(Date.parse(`${text}T00:00:00Z`));

test.each([
  ['2020-05-20', '2026-05-20', '2026-05-20', 'today'],
  ['2020-05-19', '2026-05-20', '2027-05-19', 'was yesterday, and comes next year'],
  ['2026-01-01', '2026-05-20', '2027-01-01', 'comes a year after the day'],
  ['2027-03-01', '2026-05-20', '2028-03-01', 'of a day ahead comes a year after it'],
  ['2024-02-29', '2025-02-28', '2025-02-28', 'is 28 February where there is no 29'],
  ['2024-02-29', '2025-03-01', '2026-02-28', 'was yesterday, where there is no 29'],
  ['2024-02-29', '2027-12-31', '2028-02-29', 'is 29 February in a leap year'],
  ['1999-12-31', '2026-12-31', '2026-12-31', 'on the last day of a year'],
  ['2000-01-01', '2026-12-31', '2027-01-01', 'on the first of the next'],
  ['0001-01-01', '2026-05-20', '2027-01-01', 'of the first day of all'],
])('of %s, seen on %s, it is %s: it %s', async (day, today, expected) => {
  const { rows } = await database.owner.query<{ next: string }>(
    'select segments.next_anniversary(day => $1, today => $2)::text as next',
    [day, today],
  );
  expect(rows[0]?.next).toBe(expected);
  expect(toDate(nextAnniversary(toDay(day), toDay(today)))).toBe(expected);
});
