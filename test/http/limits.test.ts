import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { COUNTERS_MAX } from '../../src/base/slots.ts';
import { Limits, WINDOW_SECONDS } from '../../src/http/limits.ts';
import type { Sender } from '../../src/http/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NONE = {
  rateLimitServer: 0,
  rateLimitPublishable: 0,
  rateLimitAddress: 0,
  rateLimitUnsubscribe: 0,
  unitLimitServer: 0,
  unitLimitPublishable: 0,
  unitLimitAddress: 0,
  unitLimitAnonymous: 0,
};
const REQUESTS = { ...NONE, rateLimitServer: 20, rateLimitPublishable: 4, rateLimitAddress: 2 };
const UNITS = {
  ...NONE,
  unitLimitServer: 40,
  unitLimitPublishable: 8,
  unitLimitAddress: 4,
  unitLimitAnonymous: 2,
};
const SERVER_QUOTA = REQUESTS.rateLimitServer * WINDOW_SECONDS;
const PUBLISHABLE_QUOTA = REQUESTS.rateLimitPublishable * WINDOW_SECONDS;
const ADDRESS_QUOTA = REQUESTS.rateLimitAddress * WINDOW_SECONDS;
const SERVER_UNITS = UNITS.unitLimitServer * WINDOW_SECONDS;
const PUBLISHABLE_UNITS = UNITS.unitLimitPublishable * WINDOW_SECONDS;
const ADDRESS_UNITS = UNITS.unitLimitAddress * WINDOW_SECONDS;
const ANONYMOUS_UNITS = UNITS.unitLimitAnonymous * WINDOW_SECONDS;

const server = (keyId = 's'): Sender => ({ kind: 'server', keyId, address: '192.0.2.1' });
const browser = (address: string, keyId = 'p'): Sender => ({
  kind: 'publishable',
  keyId,
  address,
});

/** Sends so many requests, and returns how many were taken. */
const take = (limits: Limits, sender: Sender, times: number): number => {
  let taken = 0;
  for (let time = 0; time < times; time += 1)
    if (!limits.takeRequest(sender).some(({ isExceeded }) => isExceeded)) taken += 1;
  return taken;
};

/** Work of so many units in several parts, each of which names a device where one is given. */
const parts = (units: number, device?: string) => [
  { units: 1, device },
  { units: units - 1, device },
];
const charge = (limits: Limits, sender: Sender, units: number, device?: string) =>
  limits.chargeWork(sender, units > 1 ? parts(units, device) : [{ units, device }]);

describe('requests', () => {
  test('a key sends as many requests as its window allows, and not one more', () => {
    const limits = new Limits(REQUESTS);
    expect(take(limits, server(), SERVER_QUOTA)).toBe(SERVER_QUOTA);
    expect(limits.takeRequest(server())).toEqual([
      {
        policy: 'key',
        quota: SERVER_QUOTA,
        remaining: 0,
        resetSeconds: WINDOW_SECONDS,
        isExceeded: true,
      },
    ]);
  });

  test('the standing says how much is left and when the window ends; the next one is new', () => {
    const limits = new Limits(REQUESTS);
    expect(limits.takeRequest(server())).toMatchObject([
      { remaining: SERVER_QUOTA - 1, resetSeconds: WINDOW_SECONDS, isExceeded: false },
    ]);
    vi.advanceTimersByTime(WINDOW_SECONDS * 1_000 - 1);
    expect(limits.takeRequest(server())).toMatchObject([
      { remaining: SERVER_QUOTA - 2, resetSeconds: 1 },
    ]);
    expect(take(limits, server(), SERVER_QUOTA)).toBe(SERVER_QUOTA - 2);
    vi.advanceTimersByTime(1);
    expect(take(limits, server(), SERVER_QUOTA + 1)).toBe(SERVER_QUOTA);
  });

  test('keys count apart', () => {
    const limits = new Limits(REQUESTS);
    take(limits, server('one'), SERVER_QUOTA + 1);
    expect(take(limits, server('other'), 1)).toBe(1);
  });

  test('a publishable key counts per address too, which leaves the key to all others', () => {
    const limits = new Limits(REQUESTS);
    const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
    expect(take(limits, browser(one), PUBLISHABLE_QUOTA * 2)).toBe(ADDRESS_QUOTA);
    const [refused, ...more] = limits.takeRequest(browser(one));
    expect([refused?.policy, refused?.isExceeded, more]).toEqual(['address', true, []]);
    expect(take(limits, browser(two), ADDRESS_QUOTA)).toBe(ADDRESS_QUOTA);
    expect(PUBLISHABLE_QUOTA).toBe(2 * ADDRESS_QUOTA);
    expect(limits.takeRequest(browser(three))).toMatchObject([
      { policy: 'key', quota: PUBLISHABLE_QUOTA, isExceeded: true },
    ]);
  });

  test('an address counts over all publishable keys, and the addresses of one IPv6 network as one', () => {
    const limits = new Limits(REQUESTS);
    const half = ADDRESS_QUOTA / 2;
    expect(take(limits, browser('2001:db8::1', 'p'), half)).toBe(half);
    expect(take(limits, browser('2001:db8::2', 'q'), half + 1)).toBe(half);
  });

  test('a server key has no limit per address: a server is one address', () => {
    const limits = new Limits(REQUESTS);
    expect(take(limits, server(), ADDRESS_QUOTA * 5)).toBe(ADDRESS_QUOTA * 5);
  });

  test('a request that was counted by its address before its key was known is not counted twice', () => {
    const limits = new Limits(REQUESTS);
    for (let time = 0; time < ADDRESS_QUOTA; time += 1) {
      expect(limits.takeAddress('192.0.2.1')).toBeNull();
      const sender = { ...browser('192.0.2.1'), isAddressCounted: true };
      expect(limits.takeRequest(sender)).toMatchObject([{ policy: 'key', isExceeded: false }]);
    }
    expect(limits.takeAddress('192.0.2.1')).toMatchObject({ policy: 'address', isExceeded: true });
    expect(limits.takeUnsubscribe('192.0.2.1')).toBeNull();
  });

  test('unsubscribe links have a limit per address, at its bound and one past it, apart from keys', () => {
    const limits = new Limits({ ...REQUESTS, rateLimitUnsubscribe: 3 });
    const quota = 3 * WINDOW_SECONDS;
    for (let time = 0; time < ADDRESS_QUOTA; time += 1) limits.takeAddress('192.0.2.1');
    for (let time = 0; time < quota; time += 1)
      expect(limits.takeUnsubscribe('192.0.2.1')).toBeNull();
    expect(limits.takeUnsubscribe('192.0.2.1')).toMatchObject({ quota, isExceeded: true });
    expect(limits.takeUnsubscribe('192.0.2.2')).toBeNull();
    expect(limits.takeAddress('192.0.2.2')).toBeNull();
  });

  test('of several processes each grants its share, together never more than the limit by a rounding', () => {
    for (const processes of [1, 2, 3, 7, 50]) {
      const each = Array.from({ length: processes }, () => new Limits(REQUESTS));
      let taken = 0;
      for (const limits of each) {
        limits.share(processes);
        taken += take(limits, server(), SERVER_QUOTA);
      }
      expect(taken, String(processes)).toBeGreaterThanOrEqual(SERVER_QUOTA);
      expect(taken, String(processes)).toBeLessThan(SERVER_QUOTA + processes);
    }
  });

  test('the share changes while a window is open', () => {
    const limits = new Limits(REQUESTS);
    expect(take(limits, server(), SERVER_QUOTA / 2)).toBe(SERVER_QUOTA / 2);
    limits.share(2);
    expect(take(limits, server(), 1)).toBe(0);
    limits.share(1);
    expect(take(limits, server(), SERVER_QUOTA)).toBe(SERVER_QUOTA / 2);
  });
});

describe('units', () => {
  test('a request takes as many units as are left, and one that asks for one more takes none', () => {
    const limits = new Limits(UNITS);
    expect(charge(limits, server(), SERVER_UNITS - 10).kind).toBe('taken');
    expect(charge(limits, server(), 11)).toEqual({
      kind: 'exceeded',
      standing: {
        policy: 'key_units',
        quota: SERVER_UNITS,
        remaining: 0,
        resetSeconds: WINDOW_SECONDS,
        isExceeded: true,
      },
    });
    expect(charge(limits, server(), 10)).toMatchObject({
      kind: 'taken',
      standings: [{ policy: 'key_units', remaining: 0 }],
    });
  });

  test('a request costs one unit at least', () => {
    const limits = new Limits(UNITS);
    expect(limits.chargeWork(server(), [])).toMatchObject({
      standings: [{ remaining: SERVER_UNITS - 1 }],
    });
  });

  test('a key without units left is refused before its next body is read', () => {
    const limits = new Limits(UNITS);
    charge(limits, server(), SERVER_UNITS);
    expect(limits.takeRequest(server())).toMatchObject([
      { policy: 'key_units', isExceeded: true, remaining: 0 },
    ]);
    vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
    expect(limits.takeRequest(server())).toEqual([]);
  });

  test('a request that costs more than a window is told how much it may cost, and takes nothing', () => {
    const limits = new Limits(UNITS);
    expect(charge(limits, server(), SERVER_UNITS + 1)).toEqual({
      kind: 'too_costly',
      units: SERVER_UNITS + 1,
      unitsMax: SERVER_UNITS,
    });
    expect(charge(limits, server(), SERVER_UNITS).kind).toBe('taken');
  });

  test('a call that cannot be split costs a whole window at most', () => {
    const limits = new Limits(UNITS);
    const one = [{ units: SERVER_UNITS * 2 }];
    expect(limits.chargeWork(server(), one).kind).toBe('taken');
    expect(limits.chargeWork(server(), one).kind).toBe('exceeded');
  });

  test('an address is refused before it uses up its key', () => {
    const limits = new Limits(UNITS);
    expect(charge(limits, browser('192.0.2.1'), ADDRESS_UNITS).kind).toBe('taken');
    expect(charge(limits, browser('192.0.2.1'), 1)).toMatchObject({
      standing: { policy: 'address_units' },
    });
    expect(charge(limits, browser('192.0.2.2'), ADDRESS_UNITS).kind).toBe('taken');
    expect(PUBLISHABLE_UNITS).toBe(2 * ADDRESS_UNITS);
    expect(charge(limits, browser('192.0.2.3'), 1)).toMatchObject({
      standing: { policy: 'key_units' },
    });
  });

  test('an anonymous id counts over all addresses, within its key, with every part that names it', () => {
    const limits = new Limits(UNITS);
    const from = (at: number, keyId?: string) => browser(`192.0.2.${at}`, keyId);
    expect(charge(limits, from(1), ANONYMOUS_UNITS, 'device-1').kind).toBe('taken');
    const both = [...parts(2, 'device-2'), { units: 1, device: 'device-1' }];
    expect(limits.chargeWork(from(2), both)).toMatchObject({
      kind: 'exceeded',
      standing: { policy: 'anonymous_id_units', quota: ANONYMOUS_UNITS },
    });
    // Nothing of the refused request was charged.
    expect(charge(limits, from(2), ANONYMOUS_UNITS, 'device-2').kind).toBe('taken');
    expect(charge(limits, from(3, 'q'), ANONYMOUS_UNITS, 'device-1').kind).toBe('taken');
    expect(charge(limits, server(), ANONYMOUS_UNITS, 'device-1').kind).toBe('taken');
    vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
    expect(charge(limits, from(4), 1, 'device-1').kind).toBe('taken');
  });

  test('a request of more than its share passes in a fresh window, and pays with the windows that follow', () => {
    const limits = new Limits(UNITS);
    limits.share(4);
    const whole = SERVER_UNITS;
    expect(charge(limits, server(), whole).kind).toBe('taken');
    vi.advanceTimersByTime(3 * WINDOW_SECONDS * 1_000);
    expect(charge(limits, server(), 1).kind).toBe('exceeded');
    vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
    expect(charge(limits, server(), 1).kind).toBe('taken');
    expect(charge(limits, server(), whole).kind).toBe('exceeded');
  });

  test('a refused body is charged by its size, also past what is left', () => {
    const limits = new Limits(UNITS);
    charge(limits, browser('192.0.2.1'), ADDRESS_UNITS - 1);
    limits.chargeRefused(browser('192.0.2.1'), 5);
    expect(charge(limits, browser('192.0.2.1'), 1).kind).toBe('exceeded');
    limits.chargeRefused(browser('192.0.2.2'), 10 * PUBLISHABLE_UNITS);
    vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
    expect(charge(limits, browser('192.0.2.2'), 1).kind).toBe('taken');
  });
});

test('0 is no limit, for each of them alone', () => {
  const none = new Limits(NONE);
  expect(none.takeRequest(server())).toEqual([]);
  expect(none.takeRequest(browser('192.0.2.1'))).toEqual([]);
  expect(none.takeUnsubscribe('192.0.2.1')).toBeNull();
  expect(charge(none, browser('192.0.2.1'), 10 ** 9, 'device').kind).toBe('taken');
  expect(none.counterCount).toBe(0);
  const perAddress = new Limits({ ...NONE, rateLimitAddress: 2 });
  expect(take(perAddress, browser('192.0.2.1'), ADDRESS_QUOTA + 1)).toBe(ADDRESS_QUOTA);
  const perKey = new Limits({ ...NONE, rateLimitPublishable: 4 });
  expect(take(perKey, browser('192.0.2.1'), PUBLISHABLE_QUOTA + 1)).toBe(PUBLISHABLE_QUOTA);
});

test('a flood of addresses and anonymous ids takes a bounded number of counters, gone with the window', () => {
  const limits = new Limits({ ...NONE, rateLimitAddress: 2, unitLimitAnonymous: 2 });
  const FLOOD = 100_000;
  for (let at = 0; at < FLOOD; at += 1) {
    limits.takeRequest(browser(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`));
    charge(limits, browser('192.0.2.1'), 1, `device-${at}`);
  }
  expect(limits.counterCount).toBeLessThanOrEqual(2 * COUNTERS_MAX);
  expect(limits.counterCount).toBeGreaterThan(COUNTERS_MAX);
  vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
  limits.takeRequest(browser('192.0.2.1'));
  charge(limits, browser('192.0.2.1'), 1, 'device');
  expect(limits.counterCount).toBe(2);
});
