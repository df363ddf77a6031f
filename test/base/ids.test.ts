import { validate, version } from 'uuid';
import { expect, test } from 'vitest';
import { firstIdAt, newId, timeOfId } from '../../src/base/ids.ts';
import { takeRandom } from '../../src/base/random.ts';

const MANY = 20_000;

test('ids are version 7, all different, and sort in the order they were made', () => {
  const ids = Array.from({ length: MANY }, newId);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(MANY);
  expect(ids.toSorted()).toEqual(ids);
});

test('the least id of a moment comes before every id made then, and after every id made before', () => {
  const before = newId();
  const at = new Date(Date.now() + 1);
  while (Date.now() <= at.getTime());
  expect(firstIdAt(at) > before).toBe(true);
  expect(firstIdAt(at) < newId()).toBe(true);
});

test('an id says when it was made, to the millisecond', () => {
  const at = new Date('2026-01-31T12:34:56.789Z');
  expect(timeOfId(firstIdAt(at))).toEqual(at);
  const before = Date.now();
  const time = timeOfId(newId()).getTime();
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now());
});

test('random bytes are given out once, across refills', () => {
  const taken = Array.from({ length: 4_000 }, (_, at) => takeRandom(8 + (at % 9)));
  expect(taken.every((bytes, at) => bytes.length === 8 + (at % 9))).toBe(true);
  expect(new Set(taken.map((bytes) => bytes.toString('hex'))).size).toBe(taken.length);
});
