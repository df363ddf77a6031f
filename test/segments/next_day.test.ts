import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test.each<[string, number, string | null, string]>([
  ['2026-05-25', 7, '2026-05-25', 'enters when it comes'],
  ['2026-05-20', 1, '2026-05-21', 'leaves tomorrow'],
  ['2026-05-14', 7, '2026-05-21', 'leaves when so many days have begun since'],
  ['2026-05-13', 7, null, 'has left for good'],
])('a window says of %s, %s days: %s, it %s', async (day, days, expected) => {
  const { rows } = await database.owner.query<{ next: string | null }>(
    "select segments.next_day(day => $1, days => $2, today => '2026-05-20')::text as next",
    [day, days],
  );
  expect(rows[0]?.next).toBe(expected);
});

test.each<[string, string, string | null]>([
  ['9999-12-30', '9999-12-30', '9999-12-31'],
  ['9999-12-31', '9999-12-30', '9999-12-31'],
  ['9999-12-31', '9999-12-31', null],
  ['10000-01-01', '9999-12-31', null],
  ['10000-01-01', '2026-05-20', null],
  ['0001-01-01', '2026-05-20', null],
  ['0001-12-31 BC', '2026-05-20', null],
])(
  'a window of one day says of %s on %s: %s, a day that can be written',
  async (day, today, expected) => {
    const { rows } = await database.owner.query<{ next: string | null }>(
      'select segments.next_day(day => $1, days => 1, today => $2)::text as next',
      [day, today],
    );
    expect(rows[0]?.next).toBe(expected);
  },
);
