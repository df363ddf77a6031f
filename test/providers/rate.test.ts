import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  grantRate,
  LEARN_PAUSE_MS,
  LEARNED_RATE_MIN,
  learnRate,
  RATE_AHEAD_MS,
  RATE_RECOVERY_MS,
  rateAt,
  RESERVED_AHEAD_MS,
} from '../../src/providers/rate.ts';

const NOW = 1_000_000;

describe('the rate in effect', () => {
  test('is what was configured while nothing was learned', () => {
    expect([rateAt(null, null, NOW), rateAt(5, null, NOW)]).toEqual([null, 5]);
  });

  test('is what was learned, doubling as time goes by, never above what is configured', () => {
    const learned = { rate: 2, at: NOW };
    expect(rateAt(100, learned, NOW)).toBe(2);
    expect(rateAt(100, learned, NOW + 2 * RATE_RECOVERY_MS)).toBe(8);
    expect(rateAt(100, learned, NOW + 20 * RATE_RECOVERY_MS)).toBe(100);
    expect(rateAt(null, learned, NOW + 40 * RATE_RECOVERY_MS)).toBe(null);
    expect(rateAt(1, learned, NOW)).toBe(1);
  });
});

describe('a throttled send', () => {
  test('halves the rate in effect, or what really went out', () => {
    expect(learnRate(100, 500, null, NOW)).toBe(50);
    expect(learnRate(100, 20, null, NOW)).toBe(10);
    expect(learnRate(null, 20, null, NOW)).toBe(10);
  });

  test('teaches once in a burst, and never to stop for good', () => {
    const learned = { rate: 10, at: NOW };
    expect(learnRate(10, 10, learned, NOW + LEARN_PAUSE_MS - 1)).toBe(null);
    expect(learnRate(10, 10, learned, NOW + LEARN_PAUSE_MS)).toBe(5);
    expect(learnRate(LEARNED_RATE_MIN, 0, null, NOW)).toBe(LEARNED_RATE_MIN);
  });
});

describe('a grant', () => {
  test('is what the rate allows in the next moments, each send at its own time', () => {
    const now = { isReserved: false, startsAt: NOW };
    expect(grantRate(10, 0, NOW)).toEqual({ sends: 10, ...now, wakesAt: NOW + 500 });
    expect(grantRate(10, NOW + 500, NOW)).toMatchObject({ sends: 5, startsAt: NOW + 500 });
  });

  test('reaches further only for transactional email, and wakes when marketing has room', () => {
    const half = RATE_AHEAD_MS / 2;
    expect(grantRate(10, NOW + half, NOW)).toMatchObject({ isReserved: false });
    expect(grantRate(10, NOW + half + 1, NOW)).toMatchObject({ isReserved: true, sends: 9 });
    const full = { sends: 5, isReserved: true, startsAt: NOW + 1_000, wakesAt: NOW + 500 };
    expect(grantRate(10, NOW + RATE_AHEAD_MS, NOW)).toEqual(full);
    const none = { sends: 0, isReserved: true };
    expect(grantRate(10, NOW + RESERVED_AHEAD_MS, NOW)).toMatchObject(none);
  });

  test('is one at least when the time has come, however slow the rate', () => {
    expect(grantRate(0.1, 0, NOW)).toMatchObject({
      sends: 1,
      startsAt: NOW,
      wakesAt: NOW + 10_000,
    });
    expect(grantRate(0.1, NOW + 9_000, NOW)).toMatchObject({ sends: 0, wakesAt: NOW + 9_000 });
  });

  test('many one after the other never exceed the rate, and coming back when told gets more', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.05, max: 5_000, noNaN: true }), (rate) => {
        let [now, nextAt, sends] = [NOW, 0, 0];
        for (let round = 0; round < 50; round += 1) {
          const grant = grantRate(rate, nextAt, now);
          expect(grant.sends).toBeGreaterThan(0);
          sends += grant.sends;
          nextAt = grant.startsAt + (grant.sends * 1_000) / rate;
          now = Math.max(now, grant.wakesAt);
        }
        expect(sends).toBeLessThanOrEqual(((nextAt - NOW) * rate) / 1_000 + 1e-3);
        expect(nextAt - now).toBeLessThanOrEqual(Math.max(RATE_AHEAD_MS, 1_000 / rate));
      }),
    );
  });
});
