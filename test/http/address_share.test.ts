// How many addresses it takes to use up the limits of a publishable key, with the default settings.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { Limits, WINDOW_SECONDS } from '../../src/http/limits.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

const ADDRESSES = 20;
const config = readConfig({ DATABASE_URL: 'postgres://localhost/t', MASTER_KEY: TEST_MASTER_KEY });
const UNITS = config.unitLimitAddress * WINDOW_SECONDS;
const REQUESTS = config.rateLimitAddress * WINDOW_SECONDS;
const from = (at: number) =>
  ({ kind: 'publishable', keyId: 'k', address: `192.0.2.${at}` }) as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const isServed = (limits: Limits, at: number): boolean =>
  limits.takeRequest(from(at)).every(({ isExceeded }) => !isExceeded);

const floods: [string, (limits: Limits, at: number) => void][] = [
  [
    'requests',
    (limits, at) => {
      for (let n = 0; n < 2 * REQUESTS; n += 1) limits.takeRequest(from(at));
    },
  ],
  [
    'units',
    (limits, at) => {
      for (let n = 0; n < 2 * UNITS; n += 10) limits.chargeWork(from(at), [{ units: 10 }]);
    },
  ],
  [
    'refused bodies',
    (limits, at) => {
      for (let n = 0; n < 2 * UNITS; n += 10) limits.chargeRefused(from(at), 10);
    },
  ],
];

test.each(floods)(
  'attack: %s of 19 addresses leave room for another one, and those of 20 do not',
  (_, flood) => {
    const limits = new Limits(config);
    for (let at = 1; at < ADDRESSES; at += 1) flood(limits, at);
    expect(isServed(limits, 1)).toBe(false);
    expect(isServed(limits, ADDRESSES)).toBe(true);
    flood(limits, ADDRESSES);
    expect(isServed(limits, ADDRESSES + 1)).toBe(false);
  },
);

test('attack: many bodies at once of an address that has no units left cost its key nothing', () => {
  const limits = new Limits(config);
  limits.chargeWork(from(1), [{ units: UNITS - 1 }]);
  for (let n = 0; n < 1_000; n += 1) limits.chargeRefused(from(1), 256);
  for (let at = 2; at <= ADDRESSES; at += 1)
    expect(limits.chargeWork(from(at), [{ units: UNITS }]).kind).toBe('taken');
});
