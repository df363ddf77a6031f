import { expect, test } from 'vitest';
import { isDeeperThan } from '../../src/base/json_depth.ts';

test.each<[unknown, number]>([
  ['a text', 0],
  [null, 0],
  [{}, 1],
  [[], 1],
  [{ a: 'x', b: [] }, 2],
  [{ a: 'x', b: [{ c: 1 }, 2] }, 3],
])('%j has %i levels, and no more', (value, levels) => {
  expect(isDeeperThan(value, levels)).toBe(false);
  if (levels > 0) expect(isDeeperThan(value, levels - 1)).toBe(true);
});

test('what would overflow the stack is only deep', () => {
  let deep: unknown = 'x';
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(isDeeperThan(deep, 10)).toBe(true);
});
