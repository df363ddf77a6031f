import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { KeyKind } from '../base/caller.ts';
import { toOrigin } from '../base/origin.ts';
import type { Config } from '../config.ts';

/** Limits are per second; a burst may take what this many seconds allow at once. */
export const WINDOW_SECONDS = 10;
/** Addresses, and anonymous ids, share counters: no flood can fill the memory. Which ones, nobody can know. */
const COUNTERS_MAX = 65_536;

type RateLimits = Pick<
  Config,
  'rateLimitServer' | 'rateLimitPublishable' | 'rateLimitAddress' | 'rateLimitAnonymous'
>;

/** One limit as it stands for a caller after a request. */
export type Standing = {
  policy: 'key' | 'address' | 'anonymous_id';
  /** How many requests the whole installation takes in a window. */
  quota: number;
  /** How many this process will still take, until `resetSeconds` from now. */
  remaining: number;
  resetSeconds: number;
  isExceeded: boolean;
};

/** One policy's counters in this process. */
class Limit {
  readonly policy: Standing['policy'];
  readonly quota: number;
  readonly #counters: RateLimiterMemory;

  constructor(policy: Standing['policy'], perSecond: number) {
    this.policy = policy;
    this.quota = perSecond * WINDOW_SECONDS;
    this.#counters = new RateLimiterMemory({ points: this.quota, duration: WINDOW_SECONDS });
  }

  share(processes: number): void {
    this.#counters.points = Math.ceil(this.quota / processes);
  }

  async take(name: string | number): Promise<Standing> {
    const counted = await this.#counters.consume(name).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    return {
      policy: this.policy,
      quota: this.quota,
      remaining: counted.remainingPoints,
      resetSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1_000)),
      isExceeded: counted.consumedPoints > this.#counters.points,
    };
  }
}

const limitOf = (policy: Standing['policy'], perSecond: number): Limit | null =>
  perSecond === 0 ? null : new Limit(policy, perSecond);

export type Asking = { kind: KeyKind; keyId: string; address: string };

/**
 * Counts requests per key, and those of publishable keys per address of origin and per anonymous id too.
 *
 * In memory, and each process for itself: of every limit it grants the share of one process, so that
 * all of them together stay within it. Who lives is known from heartbeats (`presence.ts`).
 */
export class Limits {
  readonly #server: Limit | null;
  readonly #publishable: Limit | null;
  readonly #address: Limit | null;
  readonly #anonymous: Limit | null;
  readonly #secret = randomBytes(32);

  constructor(limits: RateLimits) {
    this.#server = limitOf('key', limits.rateLimitServer);
    this.#publishable = limitOf('key', limits.rateLimitPublishable);
    this.#address = limitOf('address', limits.rateLimitAddress);
    this.#anonymous = limitOf('anonymous_id', limits.rateLimitAnonymous);
  }

  /** Grants the share of one of so many processes from now on. */
  share(processes: number): void {
    for (const limit of [this.#server, this.#publishable, this.#address, this.#anonymous])
      limit?.share(Math.max(1, processes));
  }

  /** Counts a request. One address that asks too much is stopped before it uses its key up for others. */
  async take({ kind, keyId, address }: Asking): Promise<Standing[]> {
    if (kind !== 'publishable') return this.#server ? [await this.#server.take(keyId)] : [];
    const origin = this.#address && (await this.#address.take(this.#counterOf(toOrigin(address))));
    if (origin?.isExceeded) return [origin];
    const key = this.#publishable && (await this.#publishable.take(keyId));
    return [key, origin].filter((standing) => standing !== null);
  }

  /** Counts a request once for each anonymous id that it names; answers the first that is past its limit, or null. */
  async takeDevices(keyId: string, anonymousIds: readonly string[]): Promise<Standing | null> {
    if (!this.#anonymous) return null;
    let first: Standing | null = null;
    for (const anonymousId of new Set(anonymousIds)) {
      const standing = await this.#anonymous.take(this.#counterOf(`${keyId} ${anonymousId}`));
      if (standing.isExceeded) first ??= standing;
    }
    return first;
  }

  #counterOf(name: string): number {
    const digest = createHmac('sha256', this.#secret).update(name).digest();
    return digest.readUInt32BE() % COUNTERS_MAX;
  }
}

export const makeLimits = (limits: RateLimits): Limits => new Limits(limits);
