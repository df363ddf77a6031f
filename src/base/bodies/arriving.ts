import type { Share } from './shares.ts';

/** How long a body may arrive before another one that finds no room may end it, in milliseconds. */
export const SLOW_BODY_MS = 2_000;

/** A body that is still arriving. */
export type Arriving = {
  readonly sinceMs: number;
  previous: Arriving | null;
  next: Arriving | null;
  isIn: (share: Share) => boolean;
  end: () => void;
};

/** Bodies of servers, or of strangers, that are still arriving: the longest first. A list needs no memory per body. */
export class ArrivingBodies {
  #first: Arriving | null = null;
  #last: Arriving | null = null;

  add(body: Arriving): void {
    body.previous = this.#last;
    if (this.#last) this.#last.next = body;
    else this.#first = body;
    this.#last = body;
  }

  remove(body: Arriving): void {
    const { previous, next } = body;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    body.previous = null;
    body.next = null;
  }

  /**
   * Ends the body of a share that has been arriving longest, to make room for `newcomer`. Returns false where none has
   * been arriving for SLOW_BODY_MS and longer than the newcomer.
   */
  endSlowest(share: Share, newcomer: Arriving, nowMs: number): boolean {
    for (let body = this.#first; body !== null && body !== newcomer; body = body.next) {
      if (nowMs - body.sinceMs < SLOW_BODY_MS) return false;
      if (!body.isIn(share)) continue;
      body.end();
      return true;
    }
    return false;
  }
}
