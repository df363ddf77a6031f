import { describe, expect, test } from 'vitest';
import { KEY_KINDS } from '../../src/base/caller.ts';
import {
  checkOccurredAt,
  CLOCK_DIFFERENCE_MAX_MS,
  clockCorrectionMs,
  timelineStart,
} from '../../src/ingest/occurred_at.ts';

const NOW = new Date('2026-11-20T12:34:56.789Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const from = (ms: number): Date => new Date(NOW.getTime() + ms);

test.each(KEY_KINDS)('a %s key writes up to 24 hours ahead, to the millisecond', (kind) => {
  expect(checkOccurredAt(from(24 * HOUR_MS), kind, NOW)).toBeNull();
  expect(checkOccurredAt(from(24 * HOUR_MS + 1), kind, NOW)).toContain('24 hours ahead');
});

test('a server key writes back to the start of the timeline, 24 months ago', () => {
  expect(timelineStart(NOW)).toEqual(new Date('2024-11-20T12:34:56.789Z'));
  expect(checkOccurredAt(new Date('2024-11-20T12:34:56.789Z'), 'server', NOW)).toBeNull();
  expect(checkOccurredAt(new Date('2024-11-20T12:34:56.788Z'), 'server', NOW)).toContain(
    '24 months',
  );
});

test('a publishable key writes 30 days back and no further', () => {
  expect(checkOccurredAt(from(-30 * DAY_MS), 'publishable', NOW)).toBeNull();
  expect(checkOccurredAt(from(-30 * DAY_MS - 1), 'publishable', NOW)).toContain('30 days');
  expect(checkOccurredAt(from(-31 * DAY_MS), 'server', NOW)).toBeNull();
});

describe('where the calendar is uneven', () => {
  test.each([
    ['2028-02-29T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-31T23:59:59.999Z', '2024-03-31T23:59:59.999Z'],
    ['2026-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2024-12-31T23:59:59.999Z'],
  ])('the timeline at %s starts at %s', (now, start) => {
    expect(timelineStart(new Date(now))).toEqual(new Date(start));
  });

  test('the timeline never starts before the first month that is kept', () => {
    for (let day = 0; day < 1_500; day += 1) {
      const now = from(day * DAY_MS);
      const firstKept = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 24, 1);
      expect(timelineStart(now).getTime()).toBeGreaterThanOrEqual(firstKept);
    }
  });
});

test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
  'an absurd time, %s, is refused',
  (absurd) => {
    expect(checkOccurredAt(new Date(absurd), 'server', NOW)).not.toBeNull();
  },
);

test('asking does not move the clock that was handed in', () => {
  const now = new Date(NOW);
  timelineStart(now);
  checkOccurredAt(now, 'server', now);
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
