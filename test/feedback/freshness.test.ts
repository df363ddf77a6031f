// How old a signature may be, and how far ahead of our clock: at each bound and one past it.
import { expect, test } from 'vitest';
import { AHEAD_MINUTES_MAX, isFresh, readSignedAt } from '../../src/feedback/dialects/freshness.ts';

const NOW = new Date('2026-11-27T12:00:00.000Z');
const MINUTE_MS = 60_000;
const MINUTES_MAX = 24 * 60;

test.each([
  [0, true],
  [MINUTES_MAX * MINUTE_MS, true],
  [MINUTES_MAX * MINUTE_MS + 1, false],
  [-AHEAD_MINUTES_MAX * MINUTE_MS, true],
  [-AHEAD_MINUTES_MAX * MINUTE_MS - 1, false],
])('a signature of %i ms ago is fresh: %s', (ms, expected) => {
  expect(isFresh(new Date(NOW.getTime() - ms), NOW, MINUTES_MAX)).toBe(expected);
});

test.each([
  ['1795170905', new Date(1_795_170_905_000)],
  ['9'.repeat(12), new Date(Number('9'.repeat(12)) * 1_000)],
  ['9'.repeat(13), null],
  ['', null],
  ['1e9', null],
  ['-1', null],
  ['1795170905.5', null],
])('the time %j is %s', (timestamp, expected) => {
  expect(readSignedAt(timestamp)).toEqual(expected);
});
