import { NEVER_MS } from '../base/watchers.ts';
import type { Load, Turn } from './turn.ts';

/** How many providers may have hand-offs in one process, most of them hanging. */
export const TURNS_MAX = 200;

type TurnsOptions<Item, Context> = {
  /** How many turns are fed at a time. */
  fedMax: number;
  /** Called when a turn that nobody feeds has done what waited, and when it has come to its end. */
  onLate: (turn: Turn<Item, Context>) => void;
};
type Feeding<Item, Context, T> = {
  makeTurn: () => Turn<Item, Context>;
  /** `isWanted` says whether others wait for its place: it is held no longer than it takes to add something. */
  feed: (turn: Turn<Item, Context>, isWanted: () => boolean) => Promise<T>;
  /** Called once there is a place again, where there was none. */
  remind: () => void;
};

/**
 * The turns that run in this process, by provider. A turn outlives the job that fed it: hand-offs to
 * a relay that does not answer go on, and hold neither a job nor another provider's place.
 */
export class Turns<Item, Context> {
  readonly #options: TurnsOptions<Item, Context>;
  readonly #running = new Map<string, Turn<Item, Context>>();
  /** Who found no place, in the order in which they came. */
  readonly #turnedAway = new Map<string, () => void>();
  #fed = 0;

  constructor(options: TurnsOptions<Item, Context>) {
    this.#options = options;
  }

  /**
   * Lets one caller at a time feed a provider's turn. Answers null when there is no room for it: what is
   * there already will look for more, or it is reminded.
   */
  async feed<T>(
    providerId: string,
    { makeTurn, feed, remind }: Feeding<Item, Context, T>,
  ): Promise<T | null> {
    const running = this.#running.get(providerId);
    if (running && (running.isFed || !running.hasRoom)) {
      running.ask();
      return null;
    }
    if (this.#fed >= this.#options.fedMax || (!running && this.#running.size >= TURNS_MAX)) {
      this.#turnAway(providerId, remind);
      return null;
    }
    const turn = running ?? makeTurn();
    this.#running.set(providerId, turn);
    this.#turnedAway.delete(providerId);
    turn.isFed = true;
    turn.isLeft = false;
    this.#fed += 1;
    try {
      return await feed(turn, () => this.#turnedAway.size > 0);
    } finally {
      turn.isFed = false;
      this.#fed -= 1;
      if (turn.isIdle) this.#running.delete(providerId);
      else void this.#watch(providerId, turn);
      this.#remind();
    }
  }

  /** What there is of all of them. */
  get load(): Load {
    const sum = { busy: 0, waiting: 0, tracked: 0 };
    for (const { load } of this.#running.values()) {
      sum.busy += load.busy;
      sum.waiting += load.waiting;
      sum.tracked += load.tracked;
    }
    return sum;
  }

  /** Waits for the hand-offs that have begun. */
  async close(): Promise<void> {
    this.#turnedAway.clear();
    await Promise.all(
      [...this.#running.values()].map((turn) => {
        turn.drain();
        return turn.when(() => turn.isIdle, NEVER_MS);
      }),
    );
  }

  #turnAway(providerId: string, remind: () => void): void {
    if (this.#turnedAway.size < TURNS_MAX) this.#turnedAway.set(providerId, remind);
    for (const turn of this.#running.values()) turn.nudge();
  }

  /** Lets whoever has waited longest for a place come again. */
  #remind(): void {
    const [next] = this.#turnedAway;
    if (!next) return;
    this.#turnedAway.delete(next[0]);
    next[1]();
  }

  /** Until somebody feeds it again, who then sees to its end. */
  async #watch(providerId: string, turn: Turn<Item, Context>): Promise<void> {
    const isLeft = turn.isLeft || turn.waitingCount > 0;
    const mayDoMore = () =>
      turn.hasRoom && (turn.isAskedAgain || (isLeft && turn.waitingCount === 0));
    await turn.when(() => turn.isFed || turn.isIdle || mayDoMore(), NEVER_MS);
    if (!turn.isFed && !turn.isIdle) this.#options.onLate(turn);
    await turn.when(() => turn.isIdle || turn.isFed, NEVER_MS);
    if (turn.isFed || !turn.isIdle) return;
    this.#running.delete(providerId);
    this.#options.onLate(turn);
    this.#remind();
  }
}
