import { expect, test } from 'vitest';
import { findMissing } from '../hardening/has_test.ts';
import { faults } from './faults.ts';

const FAULTS = 37;

test('every fault of the design is here, once', () => {
  expect(faults.map(({ id }) => id)).toEqual(
    Array.from({ length: FAULTS }, (_, at) => `F${at + 1}`),
  );
});

const named = faults.flatMap(({ id, name, shown }) => (shown ? [{ id, says: name, shown }] : []));

test('what is not brought about here names the tests that show it', () => {
  const silent = faults.filter((fault) => 'elsewhere' in fault && !fault.shown);
  expect(silent).toEqual([]);
  expect(named.length).toBeGreaterThan(0);
});

test.each(named)('$id $says: the tests that show it are there', (promised) => {
  expect(findMissing(promised)).toEqual([]);
});
