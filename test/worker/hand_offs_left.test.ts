// What a process that stops says of the hand-offs that it waits for.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchQueue } from '../../src/base/memory_queues.ts';
import { Resources } from '../../src/base/resources.ts';
import { LEFT_TOLD_AFTER_MS, tellHandOffsLeft } from '../../src/worker/hand_offs_left.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE_MS = 60_000;

test('how many are left is told after some seconds, and again when it has changed', async () => {
  const deps = { resources: new Resources() };
  let left = 3;
  watchQueue(deps, 'hand_offs', { size: () => left, max: 10 });
  const told: number[] = [];
  tellHandOffsLeft(deps, (handOffs) => told.push(handOffs));
  await deps.resources.close();
  vi.advanceTimersByTime(LEFT_TOLD_AFTER_MS - 1);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual([3]);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(told).toEqual([3]);
  left = 1;
  vi.advanceTimersByTime(MINUTE_MS);
  expect(told).toEqual([3, 1]);
  left = 0;
  vi.advanceTimersByTime(MINUTE_MS);
  expect(told).toEqual([3, 1]);
});

test.each([0, null])('where there are %s nothing is told', (left) => {
  const deps = { resources: new Resources() };
  if (left !== null) watchQueue(deps, 'hand_offs', { size: () => left, max: 10 });
  const told: number[] = [];
  tellHandOffsLeft(deps, (handOffs) => told.push(handOffs));
  vi.advanceTimersByTime(MINUTE_MS);
  expect(told).toEqual([]);
});
