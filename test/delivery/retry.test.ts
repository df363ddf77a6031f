import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  RETRY_BASE_SECONDS,
  RETRY_MAX_SECONDS,
  retryAfterSeconds,
} from '../../src/delivery/retry.ts';

test('the longest wait doubles with each attempt until it reaches its bound', () => {
  const longest = Array.from({ length: 12 }, (_, at) => retryAfterSeconds(at + 1, 1));
  expect(longest.slice(0, 4)).toEqual([30, 60, 120, 240]);
  expect(longest.at(-1)).toBe(RETRY_MAX_SECONDS);
});

test('every wait is a whole number between nothing and its bound, however many attempts', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), share, (attempt, random) => {
      const seconds = retryAfterSeconds(attempt, random);
      expect(Number.isSafeInteger(seconds)).toBe(true);
      expect(seconds).toBeGreaterThanOrEqual(0);
      expect(seconds).toBeLessThanOrEqual(
        Math.min(RETRY_MAX_SECONDS, Math.ceil(RETRY_BASE_SECONDS * 2 ** (attempt - 1))),
      );
    }),
  );
});

test('the jitter is full: no wait at all is as likely as the longest', () => {
  expect(retryAfterSeconds(5, 0)).toBe(0);
  expect(retryAfterSeconds(5, 0.5)).toBe(retryAfterSeconds(5, 1) / 2);
});

test('nothing is tried before the provider’s own hint, however small the jitter, and no hint is for ever', () => {
  expect(retryAfterSeconds(1, 0, 90)).toBe(90);
  expect(retryAfterSeconds(5, 1, 90)).toBe(480);
  expect(retryAfterSeconds(1, 0, 1e9)).toBe(RETRY_MAX_SECONDS);
});
