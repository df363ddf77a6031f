import { expect, test } from 'vitest';
import { stretchesOf } from '../../src/profiles/months.ts';

const range = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) });
const stretches = (...args: Parameters<typeof stretchesOf>): string[] =>
  [...stretchesOf(...args)].map(({ from, to }) =>
    [from, to].map((end) => end.toISOString().slice(0, 10)).join(' '),
  );

test('the newest month comes alone, then ever more of them at once', () => {
  expect(stretches([range('2024-11-30T23:59:59.999Z', '2026-11-01T00:00:00Z')])).toEqual([
    '2026-11-01 2026-12-01',
    '2026-10-01 2026-11-01',
    '2026-08-01 2026-10-01',
    '2026-04-01 2026-08-01',
    '2025-08-01 2026-04-01',
    '2024-11-01 2025-08-01',
  ]);
});

test('months in which nobody was seen are not read', () => {
  const seen = [
    range('2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z'),
    range('2026-03-01T00:00:00Z', '2026-04-30T00:00:00Z'),
    range('2026-04-02T00:00:00Z', '2026-04-02T00:00:00Z'),
    range('2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'),
  ];
  expect(stretches(seen)).toEqual([
    '2026-11-01 2026-12-01',
    '2026-10-01 2026-11-01',
    '2026-03-01 2026-05-01',
    '2024-02-01 2024-03-01',
  ]);
});

test('bounds leave the months they are in and cut off the rest', () => {
  const year = [range('2025-01-01T00:00:00Z', '2025-12-31T23:59:59.999Z')];
  const bounds = range('2025-03-31T23:59:59.999Z', '2025-04-01T00:00:00Z');
  expect(stretches(year, bounds)).toEqual(['2025-04-01 2025-05-01', '2025-03-01 2025-04-01']);
  expect(stretches(year, { from: new Date('2026-01-01T00:00:00Z') })).toEqual([]);
  expect(stretches(year, { to: new Date('2024-12-31T23:59:59.999Z') })).toEqual([]);
  expect(stretches([])).toEqual([]);
});
