import type { Share } from './shares.ts';

/** How long a body may arrive before another one that finds no room may end it, in milliseconds. */
export const SLOW_BODY_MS = 2_000;

/** A body that is still arriving. */
export type Arriving = {
  readonly sinceMs: number;
  isIn: (share: Share) => boolean;
  end: () => void;
};

/** Bodies of servers, or of strangers, that are still arriving, in the order in which they began. */
export class ArrivingBodies {
  readonly #bodies = new Set<Arriving>();

  add(body: Arriving): void {
    this.#bodies.add(body);
  }

  remove(body: Arriving): void {
    this.#bodies.delete(body);
  }

  /**
   * Ends the body of a share that has been arriving longest, to make room for `newcomer`. Returns false where none has
   * been arriving for SLOW_BODY_MS and longer than the newcomer.
   */
  endSlowest(share: Share, newcomer: Arriving, nowMs: number): boolean {
    for (const body of this.#bodies) {
      if (body === newcomer || nowMs - body.sinceMs < SLOW_BODY_MS) return false;
      if (!body.isIn(share)) continue;
      body.end();
      return true;
    }
    return false;
  }
}
