import { describe, expect, test } from 'vitest';
import { KEY_KINDS } from '../../src/base/caller.ts';
import type { KeyKind } from '../../src/base/caller.ts';
import {
  boundsAt,
  checkOccurredAt,
  CLOCK_DIFFERENCE_MAX_MS,
  clockCorrectionMs,
  PUBLISHABLE_DAYS_BACK_MAX,
  timelineStart,
} from '../../src/ingest/occurred_at.ts';

const NOW = new Date('2026-11-20T12:34:56.789Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The bounds of RETENTION_MONTHS. */
const [LEAST, MOST] = [2, 120];
const check = (at: Date, keyKind: KeyKind, retentionMonths = 24) =>
  checkOccurredAt(at, boundsAt(NOW, { keyKind, retentionMonths }));
const from = (ms: number): Date => new Date(NOW.getTime() + ms);

test.each(KEY_KINDS)('a %s key writes up to 24 hours ahead, to the millisecond', (kind) => {
  expect(check(from(24 * HOUR_MS), kind)).toBeNull();
  expect(check(from(24 * HOUR_MS + 1), kind)).toContain('24 hours ahead');
});

test('a server key writes back to the start of the timeline, 24 months ago', () => {
  expect(timelineStart(NOW, 24)).toEqual(new Date('2024-11-20T12:34:56.789Z'));
  expect(check(new Date('2024-11-20T12:34:56.789Z'), 'server')).toBeNull();
  expect(check(new Date('2024-11-20T12:34:56.788Z'), 'server')).toContain('24 months');
});

test.each([
  [LEAST, '2026-09-20T12:34:56.789Z'],
  [13, '2025-10-20T12:34:56.789Z'],
  [MOST, '2016-11-20T12:34:56.789Z'],
])(
  'an installation that keeps %d months takes what is no older, to the millisecond',
  (months, start) => {
    const at = new Date(start);
    expect(timelineStart(NOW, months)).toEqual(at);
    expect(check(at, 'server', months)).toBeNull();
    expect(check(new Date(at.getTime() - 1), 'server', months)).toContain(`${months} months back`);
  },
);

test('a publishable key writes 30 days back and no further', () => {
  expect(check(from(-30 * DAY_MS), 'publishable')).toBeNull();
  expect(check(from(-30 * DAY_MS - 1), 'publishable')).toContain('30 days');
  expect(check(from(-31 * DAY_MS), 'server')).toBeNull();
});

describe('where the calendar is uneven', () => {
  test.each([
    ['2028-02-29T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-31T23:59:59.999Z', '2024-03-31T23:59:59.999Z'],
    ['2026-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2024-12-31T23:59:59.999Z'],
  ])('the timeline at %s starts at %s', (now, start) => {
    expect(timelineStart(new Date(now), 24)).toEqual(new Date(start));
  });

  test.each([LEAST, 3, 24, MOST])(
    'a timeline of %d months never starts before its first month, nor after what a page may write to',
    (months) => {
      for (let day = 0; day < 1_500; day += 1) {
        const now = from(day * DAY_MS);
        const firstKept = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1);
        const start = timelineStart(now, months).getTime();
        expect(start).toBeGreaterThanOrEqual(firstKept);
        expect(start).toBeLessThan(now.getTime() - PUBLISHABLE_DAYS_BACK_MAX * DAY_MS);
      }
    },
  );
});

test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
  'an absurd time, %s, is refused',
  (absurd) => {
    expect(check(new Date(absurd), 'server')).not.toBeNull();
  },
);

test('asking does not move the clock that was handed in', () => {
  const now = new Date(NOW);
  timelineStart(now, 24);
  boundsAt(now, { keyKind: 'server', retentionMonths: 24 });
  expect(now).toEqual(NOW);
});

test('a client’s clock is corrected when it differs by more than five minutes, either way', () => {
  expect(CLOCK_DIFFERENCE_MAX_MS).toBe(300_000);
  for (const sign of [-1, 1]) {
    const difference = sign * CLOCK_DIFFERENCE_MAX_MS;
    expect(clockCorrectionMs(from(difference), NOW)).toBe(0);
    expect(clockCorrectionMs(from(difference + sign), NOW)).toBe(-difference - sign);
  }
  expect(clockCorrectionMs(NOW, NOW)).toBe(0);
});
