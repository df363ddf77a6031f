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
