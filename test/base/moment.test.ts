import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Timestamp } from '../../src/base/moment.ts';

test.each([
  '2026-01-31T12:00:00Z',
  '2026-01-31t12:00:00z',
  '2026-01-31T13:00:00.000+01:00',
  '2026-01-31t13:00:00+01:00',
])('%s is one moment, however RFC 3339 lets it be written', (text) => {
  expect(Timestamp.parse(text)).toBe('2026-01-31T12:00:00.000Z');
});

test.each(['2026-01-31', '2026-01-31T12:00:00', '2026-01-31 12:00:00Z', 'today', '', 7, null])(
  '%s is none, and the refusal shows one',
  (given) => {
    expect(Timestamp.safeParse(given).error?.issues).toMatchObject([
      { message: expect.stringContaining('2026-01-31T12:00:00Z') as string },
    ]);
  },
);

test('what is written as we write it is a moment of the calendar, or is refused', () => {
  const part = (max: number, digits: number) =>
    fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, '0'));
  const written = fc
    .tuple(
      part(9999, 4),
      part(13, 2),
      part(32, 2),
      part(24, 2),
      part(60, 2),
      part(60, 2),
      part(999, 3),
    )
    .map(
      ([year, month, day, hour, minute, second, rest]) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}.${rest}Z`,
    );
  let taken = 0;
  fc.assert(
    fc.property(written, (text) => {
      const { data } = Timestamp.safeParse(text);
      if (data === undefined) return;
      taken += 1;
      expect(new Date(text).toISOString()).toBe(data);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(200);
});
