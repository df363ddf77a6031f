import type { Deps } from '../deps.ts';
import { watchQueue } from '../memory_queues.ts';
import { Refusal } from '../refusal.ts';
import { PUBLISHABLE_PART } from '../session_turns.ts';
import { ArrivingBodies } from './arriving.ts';
import { Held } from './held.ts';
import type { HeldBody, Kind } from './held.ts';
import { newShare } from './shares.ts';
import type { Share } from './shares.ts';

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
  /** What the time is, in milliseconds of a clock that never goes back. */
  nowMs?: () => number;
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

/**
 * Bounds the memory that request bodies take in this process. Requests of strangers get at most half, so that servers
 * always keep half; a project has a part of its kind's memory, and an address a part of the strangers'. An address also
 * has a bound of requests in progress. A request that finds no room is refused before its body is parsed.
 *
 * A body that arrives slowly holds no room against others: where a share is full, the body in it that has been arriving
 * longest is ended, if that is SLOW_BODY_MS or more. Servers and strangers never end bodies of each other.
 */
export class BodiesInHand {
  readonly #requestsOfAddress: number;
  readonly #kinds: Record<BodySender['kind'], Kind>;
  readonly #all: Share;
  readonly #strangers: Share;
  /** Of projects and addresses that have requests in progress: no flood of others fills the map. */
  readonly #named = new Map<string, Share>();

  constructor({ bytes, requestsOfAddress, nowMs = () => performance.now() }: BodyBounds) {
    this.#requestsOfAddress = requestsOfAddress === 0 ? Infinity : requestsOfAddress;
    const named = this.#named;
    this.#kinds = {
      server: { named, arriving: new ArrivingBodies(), nowMs },
      stranger: { named, arriving: new ArrivingBodies(), nowMs },
    };
    this.#all = newShare(null, bytes, overloaded);
    this.#strangers = newShare(null, bytes * PUBLISHABLE_PART, overloaded);
  }

  /** How many bytes all requests hold, and those of strangers. */
  get heldBytes(): { all: number; strangers: number } {
    return { all: this.#all.heldBytes, strangers: this.#strangers.heldBytes };
  }

  /** Begins to count a request. Throws `rate_limited` where its address has too many in progress. */
  open(sender: BodySender): HeldBody {
    const held = new Held(this.#sharesOf(sender), this.#kinds[sender.kind]);
    held.enter(sender.kind === 'stranger' ? this.#requestsOfAddress : Infinity);
    return held;
  }

  /** Returns the shares, the narrowest first: an address with too much gets `rate_limited`, and not `overloaded`. */
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
    return [ofAddress, ...ofProject, this.#strangers, this.#all];
  }

  #find(name: string, bytesMax: number, refuse: () => Refusal): Share {
    return this.#named.get(name) ?? newShare(name, bytesMax, refuse);
  }
}

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
