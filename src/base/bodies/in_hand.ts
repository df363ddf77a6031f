import type { Deps } from '../deps.ts';
import { watchQueue } from '../memory_queues.ts';
import { Refusal } from '../refusal.ts';
import { PUBLISHABLE_PART } from '../session_turns.ts';

const MIB = 1024 * 1024;
/** How much memory the bodies of all requests take at most, from their first byte to their answers. */
export const BODIES_BYTES_MAX = 128 * MIB;
/** How much of it the bodies of strangers take: servers always keep half. */
export const STRANGERS_BYTES_MAX = BODIES_BYTES_MAX * PUBLISHABLE_PART;
/** The part of its kind's memory that the requests of one project take. */
const PROJECT_PART = 0.5;
/** The part of the memory of publishable requests that one address takes. */
const ADDRESS_PART = 0.25;
export const ADDRESS_BYTES_MAX = STRANGERS_BYTES_MAX * ADDRESS_PART;
const RETRY_AFTER_SECONDS = 2;

/** Who a body is from: a server, or a stranger, who has a publishable key or no key yet. */
export type BodySender =
  | { kind: 'server'; projectId: string }
  | { kind: 'stranger'; projectId: string | null; origin: string };

export type BodyBounds = {
  /** Of all requests, in bytes. */
  bytes: number;
  /** How many requests of strangers one address may have in progress; 0 is no limit. */
  requestsOfAddress: number;
};

type Share = { name: string; bytesMax: number; ofAddress: boolean };

const overloaded = (): Refusal =>
  new Refusal('overloaded', {
    detail: 'Too many request bodies are in progress. Retry after Retry-After.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

const tooManyOfAddress = (): Refusal =>
  new Refusal('rate_limited', {
    detail: 'Too many requests from your address are in progress. Retry after Retry-After.',
    retryAfterSeconds: 1,
  });

/** The memory that one request takes. It is counted until `release`. */
export type HeldBody = {
  /** Counts more bytes of memory. Throws `overloaded` or `rate_limited` where there is no room. */
  add: (bytes: number) => void;
  release: () => void;
};

/**
 * Bounds the memory that request bodies take in this process. Requests of strangers get at most half, so that servers
 * always keep half; a project has a part of its kind's memory, and an address a part of the strangers'. An address also
 * has a bound of requests in progress. A request that finds no room is refused before its body is parsed.
 */
export class BodiesInHand {
  readonly #bounds: BodyBounds;
  readonly #held = new Map<string, number>();
  readonly #requests = new Map<string, number>();

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** How many bytes all requests hold, and those of strangers. */
  get heldBytes(): { all: number; strangers: number } {
    return { all: this.#held.get(ALL) ?? 0, strangers: this.#held.get(STRANGERS) ?? 0 };
  }

  /** Begins to count a request. Throws `rate_limited` where its address has too many in progress. */
  open(sender: BodySender): HeldBody {
    const leave = this.#enter(sender);
    const shares = this.#sharesOf(sender);
    let held = 0;
    return {
      add: (bytes) => {
        for (const { name, bytesMax, ofAddress } of shares)
          if ((this.#held.get(name) ?? 0) + bytes > bytesMax)
            throw ofAddress ? tooManyOfAddress() : overloaded();
        held += bytes;
        for (const { name } of shares) addTo(this.#held, name, bytes);
      },
      release: () => {
        for (const { name } of shares) addTo(this.#held, name, -held);
        held = 0;
        leave();
      },
    };
  }

  #enter(sender: BodySender): () => void {
    const { requestsOfAddress: most } = this.#bounds;
    if (sender.kind === 'server' || most === 0) return () => {};
    const { origin } = sender;
    if ((this.#requests.get(origin) ?? 0) >= most) throw tooManyOfAddress();
    addTo(this.#requests, origin, 1);
    let isIn = true;
    return () => {
      if (isIn) addTo(this.#requests, origin, -1);
      isIn = false;
    };
  }

  /** The narrowest first: an address that has too much is told so, and not that the service is overloaded. */
  #sharesOf(sender: BodySender): Share[] {
    const all = { name: ALL, bytesMax: this.#bounds.bytes, ofAddress: false };
    const { kind, projectId } = sender;
    const ofKind = kind === 'server' ? all.bytesMax : all.bytesMax * PUBLISHABLE_PART;
    const ofProject =
      projectId === null
        ? []
        : [{ name: `${kind} ${projectId}`, bytesMax: ofKind * PROJECT_PART, ofAddress: false }];
    if (kind === 'server') return [...ofProject, all];
    return [
      { name: `address ${sender.origin}`, bytesMax: ofKind * ADDRESS_PART, ofAddress: true },
      ...ofProject,
      { name: STRANGERS, bytesMax: ofKind, ofAddress: false },
      all,
    ];
  }
}

const ALL = 'all';
const STRANGERS = 'strangers';

/** What is used up is forgotten, so that no flood of addresses fills the map. */
const addTo = (counts: Map<string, number>, name: string, amount: number): void => {
  const sum = (counts.get(name) ?? 0) + amount;
  if (sum > 0) counts.set(name, sum);
  else counts.delete(name);
};

type Needs = Pick<Deps, 'config' | 'resources'>;

const makeBodiesInHand = (deps: Needs): BodiesInHand => {
  const bodies = new BodiesInHand({
    bytes: BODIES_BYTES_MAX,
    // As many at once as it may send in a second: one that waits for none of its answers gains nothing.
    requestsOfAddress: deps.config.rateLimitAddress,
  });
  watchQueue(deps, 'body_bytes', { size: () => bodies.heldBytes.all, max: BODIES_BYTES_MAX });
  watchQueue(deps, 'publishable_body_bytes', {
    size: () => bodies.heldBytes.strangers,
    max: STRANGERS_BYTES_MAX,
  });
  return bodies;
};

/** The bodies of this process. */
export const bodiesInHandOf = (deps: Needs): BodiesInHand =>
  deps.resources.of(makeBodiesInHand, deps);
