import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Limits, WINDOW_SECONDS } from '../../src/http/limits.ts';
import type { Asking } from '../../src/http/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PER_SECOND = {
  rateLimitServer: 20,
  rateLimitPublishable: 4,
  rateLimitAddress: 2,
  rateLimitAnonymous: 3,
};
const SERVER_QUOTA = PER_SECOND.rateLimitServer * WINDOW_SECONDS;
const PUBLISHABLE_QUOTA = PER_SECOND.rateLimitPublishable * WINDOW_SECONDS;
const ADDRESS_QUOTA = PER_SECOND.rateLimitAddress * WINDOW_SECONDS;
const ANONYMOUS_QUOTA = PER_SECOND.rateLimitAnonymous * WINDOW_SECONDS;

const server = (keyId = 's'): Asking => ({ kind: 'server', keyId, address: '192.0.2.1' });
const browser = (address: string, keyId = 'p'): Asking => ({
  kind: 'publishable',
  keyId,
  address,
});

/** How many of so many requests were taken. */
const take = async (limits: Limits, asking: Asking, times: number): Promise<number> => {
  let taken = 0;
  for (let time = 0; time < times; time += 1) {
    const standings = await limits.take(asking);
    if (!standings.some(({ isExceeded }) => isExceeded)) taken += 1;
  }
  return taken;
};

test('a key may ask as often as its window allows, and not once more', async () => {
  const limits = new Limits(PER_SECOND);
  expect(await take(limits, server(), SERVER_QUOTA)).toBe(SERVER_QUOTA);
  const [standing] = await limits.take(server());
  expect(standing).toEqual({
    policy: 'key',
    quota: SERVER_QUOTA,
    remaining: 0,
    resetSeconds: WINDOW_SECONDS,
    isExceeded: true,
  });
});

test('says how much is left and when the window ends, which is then a new one', async () => {
  const limits = new Limits(PER_SECOND);
  expect(await limits.take(server())).toMatchObject([
    { remaining: SERVER_QUOTA - 1, resetSeconds: WINDOW_SECONDS, isExceeded: false },
  ]);
  vi.advanceTimersByTime(WINDOW_SECONDS * 1_000 - 1);
  expect(await limits.take(server())).toMatchObject([
    { remaining: SERVER_QUOTA - 2, resetSeconds: 1 },
  ]);
  await take(limits, server(), SERVER_QUOTA);
  expect(await take(limits, server(), 1)).toBe(0);
  vi.advanceTimersByTime(1);
  expect(await take(limits, server(), SERVER_QUOTA + 1)).toBe(SERVER_QUOTA);
});

test('keys count apart', async () => {
  const limits = new Limits(PER_SECOND);
  await take(limits, server('one'), SERVER_QUOTA + 1);
  expect(await take(limits, server('other'), 1)).toBe(1);
});

test('a publishable key counts per address too, which leaves the key to everybody else', async () => {
  const limits = new Limits(PER_SECOND);
  const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
  expect(await take(limits, browser(one), PUBLISHABLE_QUOTA * 2)).toBe(ADDRESS_QUOTA);
  const refused = await limits.take(browser(one));
  expect(refused.map(({ policy, isExceeded }) => [policy, isExceeded])).toEqual([
    ['address', true],
  ]);
  expect(await take(limits, browser(two), ADDRESS_QUOTA)).toBe(ADDRESS_QUOTA);
  expect(PUBLISHABLE_QUOTA).toBe(2 * ADDRESS_QUOTA);
  const [key, address] = await limits.take(browser(three));
  expect(key).toMatchObject({ policy: 'key', quota: PUBLISHABLE_QUOTA, isExceeded: true });
  expect(address).toMatchObject({ policy: 'address', quota: ADDRESS_QUOTA, isExceeded: false });
});

test('an address counts over all publishable keys, and the addresses of one IPv6 network as one', async () => {
  const limits = new Limits(PER_SECOND);
  const half = ADDRESS_QUOTA / 2;
  expect(await take(limits, browser('2001:db8::1', 'p'), half)).toBe(half);
  expect(await take(limits, browser('2001:db8::2', 'q'), half + 1)).toBe(half);
});

test('a server key has no limit per address: a server is one address', async () => {
  const limits = new Limits(PER_SECOND);
  expect(await take(limits, server(), ADDRESS_QUOTA * 5)).toBe(ADDRESS_QUOTA * 5);
});

test('of several processes each grants its share, together never more than the limit by a rounding', async () => {
  for (const processes of [1, 2, 3, 7, 50]) {
    const each = Array.from({ length: processes }, () => new Limits(PER_SECOND));
    let taken = 0;
    for (const limits of each) {
      limits.share(processes);
      taken += await take(limits, server(), SERVER_QUOTA);
    }
    expect(taken, String(processes)).toBeGreaterThanOrEqual(SERVER_QUOTA);
    expect(taken, String(processes)).toBeLessThan(SERVER_QUOTA + processes);
  }
});

test('the share changes while a window is open', async () => {
  const limits = new Limits(PER_SECOND);
  expect(await take(limits, server(), SERVER_QUOTA / 2)).toBe(SERVER_QUOTA / 2);
  limits.share(2);
  expect(await take(limits, server(), 1)).toBe(0);
  limits.share(1);
  expect(await take(limits, server(), SERVER_QUOTA)).toBe(SERVER_QUOTA / 2 - 1);
});

test('0 is no limit, for each of them alone', async () => {
  const none = {
    rateLimitServer: 0,
    rateLimitPublishable: 0,
    rateLimitAddress: 0,
    rateLimitAnonymous: 0,
  };
  const limits = new Limits(none);
  expect(await limits.take(server())).toEqual([]);
  expect(await limits.take(browser('192.0.2.1'))).toEqual([]);
  expect(await limits.takeDevices('p', ['device'])).toBeNull();
  const perAddress = new Limits({ ...none, rateLimitAddress: 2 });
  expect(await take(perAddress, browser('192.0.2.1'), ADDRESS_QUOTA + 1)).toBe(ADDRESS_QUOTA);
  const perKey = new Limits({ ...none, rateLimitPublishable: 4 });
  expect(await take(perKey, browser('192.0.2.1'), PUBLISHABLE_QUOTA + 1)).toBe(PUBLISHABLE_QUOTA);
});

test('a flood of addresses takes a bounded number of counters, gone with the window', async () => {
  const limits = new Limits(PER_SECOND);
  const FLOOD = 100_000;
  for (let at = 0; at < FLOOD; at += 1)
    await limits.take(browser(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`));
  // One timer per counter.
  expect(vi.getTimerCount()).toBeLessThanOrEqual(65_536 + 1);
  vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('an anonymous id counts over all addresses, within its key', async () => {
  const limits = new Limits(PER_SECOND);
  for (let time = 0; time < ANONYMOUS_QUOTA; time += 1)
    expect(await limits.takeDevices('p', ['device-1'])).toBeNull();
  expect(await limits.takeDevices('p', ['device-2', 'device-1'])).toMatchObject({
    policy: 'anonymous_id',
    quota: ANONYMOUS_QUOTA,
    isExceeded: true,
  });
  expect(await limits.takeDevices('p', ['device-2'])).toBeNull();
  expect(await limits.takeDevices('q', ['device-1'])).toBeNull();
  vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
  expect(await limits.takeDevices('p', ['device-1'])).toBeNull();
});

test('an anonymous id counts once in a request, however often that names it', async () => {
  const limits = new Limits(PER_SECOND);
  const batch = Array.from({ length: 50 }, () => 'device-1');
  for (let time = 0; time < ANONYMOUS_QUOTA; time += 1)
    expect(await limits.takeDevices('p', batch)).toBeNull();
  expect(await limits.takeDevices('p', batch)).not.toBeNull();
});

test('a flood of anonymous ids takes a bounded number of counters, gone with the window', async () => {
  const limits = new Limits(PER_SECOND);
  const FLOOD = 100_000;
  for (let at = 0; at < FLOOD; at += 1) await limits.takeDevices('p', [`device-${at}`]);
  expect(vi.getTimerCount()).toBeLessThanOrEqual(65_536 + 1);
  vi.advanceTimersByTime(WINDOW_SECONDS * 1_000);
  expect(vi.getTimerCount()).toBe(0);
});
