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

/** A part of the memory, and the requests that use it. */
type Share = {
  /** Of a project or an address: where it is known by. */
  name: string | null;
  bytesMax: number;
  refuse: () => Refusal;
  heldBytes: number;
  requests: number;
};

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
  readonly #requestsOfAddress: number;
  readonly #all: Share;
  readonly #strangers: Share;
  /** Of projects and addresses that have requests in progress: no flood of others fills the map. */
  readonly #named = new Map<string, Share>();

  constructor({ bytes, requestsOfAddress }: BodyBounds) {
    this.#requestsOfAddress = requestsOfAddress === 0 ? Infinity : requestsOfAddress;
    this.#all = newShare(null, bytes, overloaded);
    this.#strangers = newShare(null, bytes * PUBLISHABLE_PART, overloaded);
  }

  /** How many bytes all requests hold, and those of strangers. */
  get heldBytes(): { all: number; strangers: number } {
    return { all: this.#all.heldBytes, strangers: this.#strangers.heldBytes };
  }

  /** Begins to count a request. Throws `rate_limited` where its address has too many in progress. */
  open(sender: BodySender): HeldBody {
    const shares = this.#sharesOf(sender);
    for (const share of shares) this.#enter(share);
    let held = 0;
    let isOpen = true;
    return {
      add: (bytes) => {
        if (!isOpen) return;
        for (const { heldBytes, bytesMax, refuse } of shares)
          if (heldBytes + bytes > bytesMax) throw refuse();
        for (const share of shares) share.heldBytes += bytes;
        held += bytes;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        for (const share of shares) this.#leave(share, held);
      },
    };
  }

  /** The narrowest first: an address that has too much is told so, and not that the service is overloaded. */
  #sharesOf(sender: BodySender): Share[] {
    const { kind, projectId } = sender;
    const ofKind = kind === 'server' ? this.#all : this.#strangers;
    const ofProject =
      projectId === null
        ? []
        : [this.#find(`${kind} ${projectId}`, ofKind.bytesMax * PROJECT_PART, overloaded)];
    if (kind === 'server') return [...ofProject, this.#all];
    const bytesMax = ofKind.bytesMax * ADDRESS_PART;
    const ofAddress = this.#find(`address ${sender.origin}`, bytesMax, tooManyOfAddress);
    if (ofAddress.requests >= this.#requestsOfAddress) throw tooManyOfAddress();
    return [ofAddress, ...ofProject, this.#strangers, this.#all];
  }

  #find(name: string, bytesMax: number, refuse: () => Refusal): Share {
    return this.#named.get(name) ?? newShare(name, bytesMax, refuse);
  }

  #enter(share: Share): void {
    share.requests += 1;
    if (share.name !== null) this.#named.set(share.name, share);
  }

  #leave(share: Share, bytes: number): void {
    share.requests -= 1;
    share.heldBytes -= bytes;
    if (share.name !== null && share.requests === 0) this.#named.delete(share.name);
  }
}

const newShare = (name: string | null, bytesMax: number, refuse: () => Refusal): Share => ({
  name,
  bytesMax,
  refuse,
  heldBytes: 0,
  requests: 0,
});

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
