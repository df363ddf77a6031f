import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WindowCounters } from '../../src/base/window_counters.ts';

const WINDOW_MS = 10_000;
const SHARE = 2;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

test('units that are returned within their window have room again', () => {
  const counters = new WindowCounters(WINDOW_MS);
  const until = counters.charge('a', SHARE, SHARE);
  expect(counters.read('a', SHARE).remaining).toBe(0);
  later(WINDOW_MS - 1);
  counters.refund('a', 1, until);
  expect(counters.read('a', SHARE).remaining).toBe(1);
});

test('attack: units of a window that is over take nothing from the next window', () => {
  const counters = new WindowCounters(WINDOW_MS);
  const until = counters.charge('a', 1, SHARE);
  later(WINDOW_MS);
  counters.charge('a', SHARE, SHARE);
  counters.refund('a', 1, until);
  expect(counters.read('a', SHARE).remaining).toBe(0);
});

test('units that are returned twice never leave more room than there was', () => {
  const counters = new WindowCounters(WINDOW_MS);
  const until = counters.charge('a', 1, SHARE);
  for (const _ of [1, 2, 3]) counters.refund('a', 1, until);
  expect(counters.read('a', SHARE).remaining).toBe(SHARE);
});
