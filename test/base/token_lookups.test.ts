import { describe, expect, test } from 'vitest';
import {
  KNOWN_TOKEN_MS,
  LOOKUP_SESSIONS,
  LOOKUP_WINDOW_SECONDS,
  LOOKUPS_WAITING_MAX,
  LOOKUPS_WAITING_OF_ADDRESS_MAX,
  REMEMBERED_TOKENS_MAX,
  TokenLookups,
  UNKNOWN_TOKEN_CACHE_MS,
} from '../../src/base/token_lookups.ts';
import { refusalOf } from '../support/refusal_of.ts';

const ADDRESS = '192.0.2.1';
const NOW = 1_800_000_000_000;

/** Look-ups of tokens, of which some are valid. Counts those that reached the database. */
const play = (lookups = new TokenLookups(1)) => {
  let asked = 0;
  const valid = new Set<string>();
  const find = (digest: string, { now = NOW, address = ADDRESS } = {}) =>
    lookups.find({ kind: 'server', digest, address, now }, () => {
      asked += 1;
      return Promise.resolve(valid.has(digest) ? digest : null);
    });
  return { lookups, valid, find, askedCount: () => asked };
};

/** Uses up what the address may send of unknown tokens. */
const exhaust = async (find: ReturnType<typeof play>['find']): Promise<void> => {
  for (let at = 0; at < LOOKUP_WINDOW_SECONDS; at += 1) await find(`unknown ${at}`);
  expect((await refusalOf(find('one more'))).reason).toBe('rate_limited');
};

describe('an unknown token', () => {
  test('is not looked up again until UNKNOWN_TOKEN_CACHE_MS have passed', async () => {
    const { find, askedCount } = play();
    await find('token');
    await find('token', { now: NOW + UNKNOWN_TOKEN_CACHE_MS - 1 });
    expect(askedCount()).toBe(1);
    await find('token', { now: NOW + UNKNOWN_TOKEN_CACHE_MS });
    expect(askedCount()).toBe(2);
  });

  test('is remembered among REMEMBERED_TOKENS_MAX; one more makes the oldest one room', async () => {
    const { find, askedCount } = play(new TokenLookups(0));
    for (let at = 0; at < REMEMBERED_TOKENS_MAX; at += 1) await find(`token ${at}`);
    await find('token 0');
    expect(askedCount()).toBe(REMEMBERED_TOKENS_MAX);
    await find('one more');
    await find('token 1');
    expect(askedCount()).toBe(REMEMBERED_TOKENS_MAX + 1);
    await find('token 0');
    expect(askedCount()).toBe(REMEMBERED_TOKENS_MAX + 2);
  });
});

describe('a token that was valid', () => {
  test('is looked up for KNOWN_TOKEN_MS, whatever its address sends; then it counts as unknown', async () => {
    const { find, valid } = play();
    valid.add('token');
    expect(await find('token')).toBe('token');
    await exhaust(find);
    expect(await find('token', { now: NOW + KNOWN_TOKEN_MS - 1 })).toBe('token');
    // The last use counts.
    expect(await find('token', { now: NOW + 2 * KNOWN_TOKEN_MS - 2 })).toBe('token');
    const later = { now: NOW + 3 * KNOWN_TOKEN_MS - 2 };
    expect((await refusalOf(find('token', later))).reason).toBe('rate_limited');
  });

  test('is known among REMEMBERED_TOKENS_MAX; one more makes the oldest one room', async () => {
    const { find, valid } = play();
    for (let at = 0; at <= REMEMBERED_TOKENS_MAX; at += 1) valid.add(`token ${at}`);
    for (let at = 0; at < REMEMBERED_TOKENS_MAX; at += 1) await find(`token ${at}`);
    await exhaust(find);
    expect(await find('token 0')).toBe('token 0');
    await find(`token ${REMEMBERED_TOKENS_MAX}`, { address: '192.0.2.2' });
    expect(await find('token 2')).toBe('token 2');
    expect((await refusalOf(find('token 1'))).reason).toBe('rate_limited');
  });

  test('is unknown once it is found no more', async () => {
    const { find, valid } = play();
    valid.add('revoked');
    await find('revoked');
    valid.delete('revoked');
    await find('revoked');
    await exhaust(find);
    expect(await find('revoked', { now: NOW + 1 })).toBeNull();
  });
});

/** Look-ups that wait for the database until the test lets go. */
const playSlowly = async (lookups: TokenLookups) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  const all: Promise<unknown>[] = [];
  const start = (address: string, digest = `token ${(next += 1)}`): Promise<unknown> => {
    const found = lookups.find({ kind: 'server', digest, address }, async () => {
      await promise;
      return digest;
    });
    all.push(found.catch(() => {}));
    found.catch(() => {});
    return found;
  };
  /** Makes tokens known, which have waiting places of their own. */
  const know = async (digests: readonly string[]): Promise<void> => {
    for (const digest of digests)
      await lookups.find({ kind: 'server', digest, address: '198.51.100.1' }, () =>
        Promise.resolve(digest),
      );
  };
  const end = async (): Promise<void> => {
    resolve();
    await Promise.all(all);
    expect([lookups.turns.heldCount, lookups.turns.waitingCount]).toEqual([0, 0]);
  };
  return { start, know, end };
};
const digestsOf = (count: number) => Array.from({ length: count }, (_, at) => `known ${at}`);
const repeat = (count: number, work: (at: number) => unknown): void => {
  for (let at = 0; at < count; at += 1) void work(at);
};

describe('the waiting places of look-ups', () => {
  test('of one address: unknown tokens fill half of them, one more is refused, another address waits', async () => {
    const lookups = new TokenLookups(1_000);
    const { start, end } = await playSlowly(lookups);
    const half = LOOKUPS_WAITING_OF_ADDRESS_MAX / 2;
    repeat(LOOKUP_SESSIONS / 2 + half, () => start(ADDRESS));
    expect(lookups.turns.count('publishable')).toEqual({ held: 1, waiting: half });
    expect((await refusalOf(start(ADDRESS))).reason).toBe('overloaded');
    void start('192.0.2.2');
    expect(lookups.turns.waitingCount).toBe(half + 1);
    await end();
  });

  test('of one address: known tokens have the bound, and one more is refused', async () => {
    const lookups = new TokenLookups(1_000);
    const { start, know, end } = await playSlowly(lookups);
    const digests = digestsOf(LOOKUP_SESSIONS + LOOKUPS_WAITING_OF_ADDRESS_MAX + 1);
    await know(digests);
    for (const digest of digests.slice(0, -1)) void start(ADDRESS, digest);
    expect(lookups.turns.waitingCount).toBe(LOOKUPS_WAITING_OF_ADDRESS_MAX);
    expect((await refusalOf(start(ADDRESS, digests.at(-1)))).reason).toBe('overloaded');
    await end();
  });

  test('of all addresses: at the bound and one past it, and a known token still waits', async () => {
    const lookups = new TokenLookups(1_000);
    const { start, know, end } = await playSlowly(lookups);
    await know(['known']);
    const half = LOOKUPS_WAITING_MAX / 2;
    repeat(LOOKUP_SESSIONS / 2 + half, (at) => start(`203.0.113.${at % 200}`));
    expect(lookups.turns.count('publishable').waiting).toBe(half);
    expect((await refusalOf(start('192.0.2.9'))).reason).toBe('overloaded');
    void start('192.0.2.9', 'known');
    expect(lookups.turns.count('server').held).toBe(1);
    await end();
  });

  test('where all visitors share one address only the bound of all holds, and no token counts', async () => {
    const lookups = new TokenLookups(1, true);
    const { find } = play(lookups);
    for (let at = 0; at < 3 * LOOKUP_WINDOW_SECONDS; at += 1)
      expect(await find(`unknown ${at}`)).toBeNull();
    const { start, end } = await playSlowly(lookups);
    const half = LOOKUPS_WAITING_MAX / 2;
    repeat(LOOKUP_SESSIONS / 2 + half, () => start(ADDRESS));
    expect(lookups.turns.count('publishable')).toEqual({ held: 1, waiting: half });
    expect((await refusalOf(start(ADDRESS))).reason).toBe('overloaded');
    await end();
  });
});
