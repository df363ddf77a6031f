import { expect, test } from 'vitest';
import { readMoment } from '../../src/segments/moments.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test.each([
  ['2026-05-20', '2026-05-20T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-05-20t12:30:00.1239z', '2026-05-20T12:30:00.123Z'],
  ['2026-05-20T23:30:00-01:15', '2026-05-21T00:45:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31', '9999-12-31T00:00:00.000Z'],
  ['9999-12-31T22:58:59.999-01:01', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T22:59:00-01:01', null],
  ['9999-12-31T23:59:59-23:59', null],
  ['0001-01-01T23:59:00+23:59', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01T23:58:59.999+23:59', null],
  ['0001-01-01T00:00:00+23:59', null],
  ['infinity', null],
  ['2025-02-29', null],
  ['2026-04-31T00:00:00Z', null],
  ['2026-05-20T24:00:00Z', null],
  ['2026-05-20T12:30:60Z', null],
  ['2026-05-20T12:30:00', null],
  ['2026-05-20 12:30:00Z', null],
  ['0000-05-20', null],
  ['2026-05-20\n', null],
  ['٢٠٢٦-05-20', null],
  [`2026-05-20T12:30:00.${'1'.repeat(30)}Z`, null],
  [20_260_520, null],
  [['2026-05-20'], null],
])('%j is %s', async (value, expected) => {
  const { rows } = await database.owner.query<{ ms: string | null }>(
    'select extract(epoch from segments.read_moment(value => $1)) * 1000 as ms',
    [JSON.stringify(value)],
  );
  const ms = expected === null ? null : Date.parse(expected);
  expect(readMoment(value)).toBe(ms);
  expect(rows[0]?.ms == null ? null : Number(rows[0].ms)).toBe(ms);
});
