import type { Arriving, ArrivingBodies } from './arriving.ts';
import type { Share } from './shares.ts';

/** The memory that one request takes. It is counted until `release`. */
export type HeldBody = {
  /**
   * Counts more bytes of memory. Where there is no room, ends bodies that have been arriving too long, or throws
   * `overloaded` or `rate_limited`.
   */
  add: (bytes: number) => void;
  /** Says that the body is still arriving: another one may end it, which releases it and calls `onEnded` once. */
  arrive: (onEnded: () => void) => void;
  /** Says that the body has arrived: nothing ends it any more. */
  hasArrived: () => void;
  release: () => void;
};

/** What bodies of one kind of sender share. */
export type Kind = {
  /** Shares of projects and addresses that have requests in progress. */
  named: Map<string, Share>;
  arriving: ArrivingBodies;
  nowMs: () => number;
};

const noEnd = (): void => {};

/** The memory of one request in its shares, the narrowest first. */
export class Held implements HeldBody, Arriving {
  readonly #shares: readonly Share[];
  readonly #kind: Kind;
  #bytes = 0;
  #isOpen = false;
  #isArriving = false;
  #onEnded = noEnd;
  sinceMs = 0;

  constructor(shares: readonly Share[], kind: Kind) {
    this.#shares = shares;
    this.#kind = kind;
  }

  /** Counts the request in its shares. Throws where the narrowest has `requestsMax` in progress. */
  enter(requestsMax: number): void {
    const [narrowest] = this.#shares;
    while (narrowest && narrowest.requests >= requestsMax) this.#makeRoom(narrowest);
    this.#isOpen = true;
    for (const share of this.#shares) {
      share.requests += 1;
      if (share.name !== null) this.#kind.named.set(share.name, share);
    }
  }

  add(bytes: number): void {
    if (!this.#isOpen) return;
    for (const share of this.#shares)
      while (share.heldBytes + bytes > share.bytesMax) this.#makeRoom(share);
    for (const share of this.#shares) share.heldBytes += bytes;
    this.#bytes += bytes;
  }

  #makeRoom(share: Share): void {
    const { arriving, nowMs } = this.#kind;
    if (!arriving.endSlowest(share, this, nowMs())) throw share.refuse();
  }

  isIn(share: Share): boolean {
    return this.#shares.includes(share);
  }

  arrive(onEnded: () => void): void {
    if (!this.#isOpen || this.#isArriving) return;
    this.#isArriving = true;
    this.#onEnded = onEnded;
    this.sinceMs = this.#kind.nowMs();
    this.#kind.arriving.add(this);
  }

  hasArrived(): void {
    if (!this.#isArriving) return;
    this.#isArriving = false;
    this.#onEnded = noEnd;
    this.#kind.arriving.remove(this);
  }

  end(): void {
    const onEnded = this.#onEnded;
    this.release();
    onEnded();
  }

  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.hasArrived();
    for (const share of this.#shares) {
      share.requests -= 1;
      share.heldBytes -= this.#bytes;
      if (share.name !== null && share.requests === 0) this.#kind.named.delete(share.name);
    }
  }
}
