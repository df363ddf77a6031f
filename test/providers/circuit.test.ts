import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CIRCUIT_FAILURES,
  CIRCUIT_OPEN_MAX_SECONDS,
  CIRCUIT_OPEN_SECONDS,
  circuitAt,
  openForSeconds,
} from '../../src/providers/circuit.ts';

test('failures one after the other open the circuit; when its time has come it is probed', () => {
  expect(circuitAt(CIRCUIT_FAILURES - 1, null, 10)).toBe('closed');
  expect(circuitAt(CIRCUIT_FAILURES, 11, 10)).toBe('open');
  expect(circuitAt(CIRCUIT_FAILURES, 10, 10)).toBe('probing');
});

test('it stays open for twice as long with each failure more, up to a bound, and half of that is jitter', () => {
  expect(openForSeconds(CIRCUIT_FAILURES - 1)).toBe(null);
  const longest = [0, 1, 2].map((more) => openForSeconds(CIRCUIT_FAILURES + more, 1));
  expect(longest).toEqual([1, 2, 4].map((times) => times * CIRCUIT_OPEN_SECONDS));
  fc.assert(
    fc.property(
      fc.integer({ min: CIRCUIT_FAILURES, max: 1e6 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, random) => {
        const seconds = openForSeconds(failures, random) ?? 0;
        expect(seconds).toBeGreaterThanOrEqual(CIRCUIT_OPEN_SECONDS / 2);
        expect(seconds).toBeLessThanOrEqual(CIRCUIT_OPEN_MAX_SECONDS);
      },
    ),
  );
});
