import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CIRCUIT_FAILURES,
  CIRCUIT_GROWTH,
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

const OUTAGE_SECONDS = 90;
/** Two minutes, less the time that the first sends take after the probe. */
const COST_MAX_SECONDS = 80;

/** Returns for how many seconds the circuit is open after a relay is back, for one random value before each probe. */
const costOf = (randoms: readonly number[]): number => {
  let at = 0;
  for (const [probes, random] of randoms.entries()) {
    if (at >= OUTAGE_SECONDS) break;
    at += openForSeconds(CIRCUIT_FAILURES + probes, random) ?? 0;
  }
  return at - OUTAGE_SECONDS;
};

test('an outage of 90 seconds costs less than two minutes, whatever the jitter', () => {
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(random, { minLength: 20, maxLength: 20 }), (randoms) => {
      expect(costOf(randoms)).toBeGreaterThanOrEqual(0);
      expect(costOf(randoms)).toBeLessThanOrEqual(COST_MAX_SECONDS);
    }),
  );
  // The worst case: short waits until just before the relay is back, then a long one.
  expect(costOf([0, 0, 0, 0.4, 1, ...Array<number>(15).fill(1)])).toBeGreaterThan(
    COST_MAX_SECONDS / 2,
  );
});

test('it stays open for longer with each failure more, up to a bound, and half of that is jitter', () => {
  expect(openForSeconds(CIRCUIT_FAILURES - 1)).toBe(null);
  const longest = [0, 1, 2].map((more) => openForSeconds(CIRCUIT_FAILURES + more, 1));
  expect(longest).toEqual(
    [1, CIRCUIT_GROWTH, CIRCUIT_GROWTH ** 2].map((times) => times * CIRCUIT_OPEN_SECONDS),
  );
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
