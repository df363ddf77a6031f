import { expect, test } from 'vitest';
import {
  dayOf,
  marketingAllowance,
  pagesAllowance,
  nextDayAt,
  RAMP_DAYS,
  RAMP_STAGES_DEFAULT,
  rampAllowance,
} from '../../src/providers/ramp.ts';

const START = '2026-02-27';
const dayAt = (at: number) => dayOf(Date.parse(START) + at * 24 * 3_600_000);
const allowanceAt = (at: number, stages = RAMP_STAGES_DEFAULT) =>
  rampAllowance({ started_on: START, stages }, dayAt(at));

test('the plan goes from its first stage to its last over two weeks, and then there is no limit', () => {
  const allowances = Array.from({ length: RAMP_DAYS + 1 }, (_, at) => allowanceAt(at));
  expect(allowances.at(0)).toBe(50);
  expect(allowances.at(RAMP_DAYS - 1)).toBe(5_000);
  expect(allowances.at(RAMP_DAYS)).toBe(null);
  const days = allowances.slice(0, -1) as number[];
  expect(days.every((allowance, at) => at === 0 || allowance > (days[at - 1] ?? 0))).toBe(true);
  expect(days[6]).toBeLessThan(500);
  expect(days[7]).toBeGreaterThan(500);
});

test('nothing goes before the first day; a plan of one stage stays there', () => {
  expect(allowanceAt(-1)).toBe(0);
  expect([0, 5, RAMP_DAYS - 1].map((at) => allowanceAt(at, [100]))).toEqual([100, 100, 100]);
});

test('marketing leaves a tenth of a day, rounded up, and has one send at least', () => {
  expect([0, 1, 2, 10, 11, 50, 5_000].map(marketingAllowance)).toEqual([0, 1, 1, 9, 9, 45, 4_500]);
});

test('email of pages leaves a quarter of a day, rounded up, and has one send at least', () => {
  expect([0, 1, 2, 10, 11, 50, 5_000].map(pagesAllowance)).toEqual([0, 1, 1, 7, 8, 37, 3_750]);
});

test('a day is a day in UTC, also over the end of a month', () => {
  expect(dayOf(Date.parse('2026-02-28T23:59:59.999Z'))).toBe('2026-02-28');
  expect(dayOf(nextDayAt('2026-02-28'))).toBe('2026-03-01');
});
