import type { Config } from '../config.ts';
import type { KeyKind } from './caller.ts';
import type { Deps } from './deps.ts';
import { isAddressShared } from './forwarded.ts';
import type { IssuedKind } from './issued_tokens.ts';
import { watchQueue } from './memory_queues.ts';
import { toOrigin } from './origin.ts';
import { Refusal } from './refusal.ts';
import { SessionTurns, TURN_WAIT_MAX_MS } from './session_turns.ts';
import { Slots } from './slots.ts';
import { WindowCounters } from './window_counters.ts';

/** Unknown tokens count in windows of this length. */
export const LOOKUP_WINDOW_SECONDS = 10;
/** An unknown token is not looked up again for this long. Tokens are random: one that is unknown stays unknown. */
export const UNKNOWN_TOKEN_CACHE_MS = 30_000;
/** A valid token may be looked up for this long after its last use, whatever its address sends besides. */
export const KNOWN_TOKEN_MS = 24 * 60 * 60 * 1_000;
/** How many tokens of each sort are remembered. The oldest make room. */
export const REMEMBERED_TOKENS_MAX = 10_000;
/** Look-ups take this many of the pool's sessions, tokens that were never valid half of them. */
export const LOOKUP_SESSIONS = 2;
/** How many look-ups wait, of all addresses and of one. Tokens that were never valid fill half of the places. */
export const LOOKUPS_WAITING_MAX = 500;
export const LOOKUPS_WAITING_OF_ADDRESS_MAX = 100;

const TURNS = {
  sessions: LOOKUP_SESSIONS,
  sessionsOfProject: LOOKUP_SESSIONS,
  waiting: LOOKUPS_WAITING_MAX,
  waitingOfProject: LOOKUPS_WAITING_OF_ADDRESS_MAX,
  waitMs: TURN_WAIT_MAX_MS,
};

/** Remembers digests until a time, at most so many: the oldest make room. */
class Remembered {
  readonly #until = new Map<string, number>();

  has(digest: string, now: number): boolean {
    return (this.#until.get(digest) ?? 0) > now;
  }

  add(digest: string, until: number): void {
    this.#until.delete(digest);
    this.#until.set(digest, until);
    const [oldest] = this.#until.keys();
    if (this.#until.size > REMEMBERED_TOKENS_MAX && oldest !== undefined)
      this.#until.delete(oldest);
  }

  delete(digest: string): void {
    this.#until.delete(digest);
  }
}

/**
 * A token to look up, by its kind and digest. Without an address, as in commands, it counts under no address.
 * `isIssued` says that its tag shows that this service made it.
 */
export type Lookup = {
  kind: KeyKind | IssuedKind | 'project';
  digest: string;
  isIssued?: boolean;
  address: string | undefined;
  now?: number | undefined;
};

/**
 * Bounds what unknown tokens cost. Each look-up of a token that is not known to be valid counts under its kind and
 * its address of origin, and is refused without a statement once too many of them found nothing. A token that this
 * service made, or that was valid recently, does not count: a flood from the same address does not lock it out.
 *
 * Where all visitors share one address, nothing counts by address: one flood would lock all of them out. The sessions
 * and waiting places of all look-ups then bound what a flood costs.
 */
export class TokenLookups {
  readonly #quota: number;
  readonly #failed = new WindowCounters(LOOKUP_WINDOW_SECONDS * 1_000);
  readonly #unknown = new Remembered();
  readonly #known = new Remembered();
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #slots = new Slots();
  readonly turns = new SessionTurns(TURN_WAIT_MAX_MS, TURNS);
  readonly #isAddressShared: boolean;
  #share: number;

  constructor(perSecond: number, isAddressShared = false) {
    this.#isAddressShared = isAddressShared;
    this.#quota = perSecond * LOOKUP_WINDOW_SECONDS;
    this.#share = this.#quota;
  }

  /** Grants the share of one of so many processes from now on. */
  share(processes: number): void {
    this.#share = Math.ceil(this.#quota / Math.max(1, processes));
  }

  /** Returns what `find` finds for a token, or null. Refuses an address with too many unknown tokens. */
  async find<T>(token: Lookup, find: () => Promise<T | null>): Promise<T | null> {
    const now = token.now ?? Date.now();
    const name = `${token.kind} ${token.digest}`;
    const running = this.#running.get(name);
    if (running) return running as Promise<T | null>;
    if (this.#unknown.has(name, now)) return null;
    const started = this.#start({ ...token, digest: name }, now, find);
    this.#running.set(name, started);
    try {
      return await started;
    } finally {
      this.#running.delete(name);
    }
  }

  async #start<T>(
    { kind, digest, isIssued = false, address }: Lookup,
    now: number,
    find: () => Promise<T | null>,
  ) {
    const isKnown = isIssued || this.#known.has(digest, now);
    const origin = this.#originOf(kind, address);
    const isCounted = !isKnown && origin !== null && this.#quota > 0;
    const until = isCounted ? this.#count(origin) : 0;
    let isUnknown = false;
    try {
      const turn = isKnown ? 'server' : 'publishable';
      const found = await this.turns.have(String(origin ?? digest), find, turn);
      isUnknown = found === null;
      if (isUnknown) this.#known.delete(digest);
      else this.#known.add(digest, now + KNOWN_TOKEN_MS);
      if (isUnknown && address !== undefined)
        this.#unknown.add(digest, now + UNKNOWN_TOKEN_CACHE_MS);
      return found;
    } finally {
      // A look-up that failed shows nothing about the token.
      if (isCounted && !isUnknown) this.#failed.refund(origin, 1, until);
    }
  }

  /** Returns what a look-up counts under; null where it counts under no address. */
  #originOf(kind: Lookup['kind'], address: string | undefined): number | null {
    if (address === undefined || this.#isAddressShared) return null;
    return this.#slots.of(`${kind} ${toOrigin(address)}`);
  }

  /** Counts before the look-up, so that many at once cannot slip through. Returns when the window ends. */
  #count(origin: number): number {
    if (!this.#failed.hasRoom(origin, 1, { share: this.#share, most: this.#share })) {
      const { resetMs } = this.#failed.read(origin, this.#share);
      throw new Refusal('rate_limited', {
        detail:
          'Too many unknown keys came from your address. Check the key, then retry after Retry-After.',
        retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1_000)),
      });
    }
    return this.#failed.charge(origin, 1, this.#share);
  }
}

type Needs = Pick<Deps, 'resources'> & {
  config: Pick<Config, 'rateLimitUnknownKeys' | 'publicUrl' | 'trustedProxies'>;
};

const makeTokenLookups = (deps: Needs): TokenLookups => {
  const { config } = deps;
  const lookups = new TokenLookups(config.rateLimitUnknownKeys, isAddressShared(config));
  const size = () => lookups.turns.waitingCount;
  watchQueue(deps, 'token_lookups', { size, max: LOOKUPS_WAITING_MAX });
  return lookups;
};

/** The look-ups of this process. */
export const tokenLookupsOf = (deps: Needs): TokenLookups =>
  deps.resources.of(makeTokenLookups, deps);
