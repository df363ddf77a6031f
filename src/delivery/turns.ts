/** As long as a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * One provider's sends in one process: at most so many are handed over at a time. Whoever finds more
 * while there is room adds to what is there. A relay that hangs holds its own lanes only.
 */
export class Turn<Item, Context> {
  /** What its lanes need besides their items. */
  readonly context: Context;
  readonly #lanesMax: number;
  readonly #work: (item: Item, turn: Turn<Item, Context>) => Promise<void>;
  readonly #waiting: Item[] = [];
  readonly #errors: unknown[] = [];
  readonly #watchers = new Set<() => void>();
  #busy = 0;
  #ended = 0;
  #tracked = 0;
  #isFed = false;
  /** Whether whoever fed it last left something behind for it. */
  isLeft = false;
  /** Whether more was hinted at since somebody last looked. */
  isAskedAgain = false;

  constructor(
    context: Context,
    lanesMax: number,
    work: (item: Item, turn: Turn<Item, Context>) => Promise<void>,
  ) {
    this.context = context;
    this.#lanesMax = lanesMax;
    this.#work = work;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Whether more could be begun at once. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#busy < this.#lanesMax;
  }

  /** Whether somebody adds to it just now. */
  get isFed(): boolean {
    return this.#isFed;
  }

  set isFed(isFed: boolean) {
    this.#isFed = isFed;
    this.#notify();
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#busy === 0 && this.#tracked === 0;
  }

  add(items: readonly Item[]): void {
    this.#waiting.push(...items);
    this.#begin();
  }

  /** There may be more: whoever feeds it looks again. */
  ask(): void {
    this.isAskedAgain = true;
    this.#notify();
  }

  /** Whoever watches it looks again: something else that they wait for may be so. */
  nudge(): void {
    this.#notify();
  }

  /** Takes back what was not begun. */
  drain(): Item[] {
    return this.#waiting.splice(0);
  }

  /** Does not end before this has; no lane waits for it. */
  track(work: Promise<unknown>): void {
    this.#tracked += 1;
    void work
      .catch((error: unknown) => this.#errors.push(error))
      .then(() => {
        this.#tracked -= 1;
        this.#ended += 1;
        this.#begin();
      });
  }

  /** What went wrong since somebody last asked. */
  takeErrors(): unknown[] {
    return this.#errors.splice(0);
  }

  /** Waits until something is so, but not longer than this. Answers whether it is. */
  async when(isSo: () => boolean, withinMs: number): Promise<boolean> {
    if (isSo()) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = () => {
      if (isSo()) resolve();
    };
    this.#watchers.add(watch);
    const timer = setTimeout(resolve, Math.min(NEVER_MS, Math.max(0, withinMs)));
    await promise;
    clearTimeout(timer);
    this.#watchers.delete(watch);
    return isSo();
  }

  /** The same, for as long as anything ends: not when nothing has for so long. */
  async whileItGoesOn(isSo: () => boolean, withinMs: number, stallMs: number): Promise<boolean> {
    const endsAt = performance.now() + withinMs;
    for (;;) {
      const [before, leftMs] = [this.#ended, endsAt - performance.now()];
      if (await this.when(isSo, Math.min(stallMs, leftMs))) return true;
      if (this.#ended === before || leftMs <= stallMs) return false;
    }
  }

  #begin(): void {
    while (this.#busy < this.#lanesMax && this.#waiting.length > 0) void this.#run();
    this.#notify();
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }

  async #run(): Promise<void> {
    const item = this.#waiting.shift();
    if (item === undefined) return;
    this.#busy += 1;
    await this.#work(item, this).catch((error: unknown) => this.#errors.push(error));
    this.#busy -= 1;
    this.#ended += 1;
    this.#begin();
  }
}

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
    const mayDoMore = () => turn.hasRoom && (isLeft || turn.isAskedAgain);
    await turn.when(() => turn.isFed || turn.isIdle || mayDoMore(), NEVER_MS);
    if (!turn.isFed && !turn.isIdle) this.#options.onLate(turn);
    await turn.when(() => turn.isIdle || turn.isFed, NEVER_MS);
    if (turn.isFed || !turn.isIdle) return;
    this.#running.delete(providerId);
    this.#options.onLate(turn);
    this.#remind();
  }
}
