import { Watchers } from '../base/watchers.ts';
import { Line } from './line.ts';

/** How much may be tracked for each lane: past that a turn begins nothing until some of it has ended. */
export const TRACKED_PER_LANE_MAX = 10;

/** A fifth of the lanes is for email that no page can make slow, where there is more than one. */
export const lanesOfPages = (lanesMax: number): number =>
  Math.max(1, lanesMax - Math.ceil(lanesMax / 5));

/** How much there is of a turn, or of all. */
export type Load = { busy: number; waiting: number; tracked: number };

type TurnOptions<Item> = {
  /** Which items overtake the others. */
  isUrgent?: (item: Item) => boolean;
  /** Which items a page caused. */
  isOfPage?: (item: Item) => boolean;
  /** Which items leave a part of the lanes to the others: those that a page may make slow. All of pages by default. */
  mayHang?: (item: Item) => boolean;
  /** Once it is aborted, items begin before their moments: they are released then. */
  signal?: AbortSignal;
};
const AT_ONCE = (): number => 0;

/**
 * One provider's sends in one process: at most so many are handed over at a time. A job that finds more while there is
 * room adds to them. A relay that hangs holds its own lanes only.
 */
export class Turn<Item, Context> {
  /** What its lanes need besides their items. */
  readonly context: Context;
  #lanesMax: number;
  readonly #work: (item: Item, turn: Turn<Item, Context>) => Promise<void>;
  readonly #waiting: Line<Item>;
  readonly #signal: AbortSignal | null;
  readonly #errors: unknown[] = [];
  readonly #watchers = new Watchers();
  readonly #isOfPage: (item: Item) => boolean;
  readonly #mayHang: (item: Item) => boolean;
  #busy = 0;
  #busyForPages = 0;
  /** Of `performance.now()`. */
  #hangsSince: number | null = null;
  #ended = 0;
  #tracked = 0;
  #isFed = false;
  #timer: NodeJS.Timeout | null = null;
  /** Whether whoever fed it last left something behind for it. */
  isLeft = false;
  /** Whether a hint said that there may be more, since the last claim of all. */
  isAskedAgain = false;
  /** The same, since the last claim of any kind: what is urgent may overtake what waits. */
  mayOvertake = false;

  constructor(
    context: Context,
    lanesMax: number,
    work: (item: Item, turn: Turn<Item, Context>) => Promise<void>,
    {
      isUrgent = () => false,
      isOfPage = () => false,
      mayHang = isOfPage,
      signal,
    }: TurnOptions<Item> = {},
  ) {
    this.context = context;
    this.#lanesMax = lanesMax;
    this.#work = work;
    this.#waiting = new Line(isUrgent);
    this.#isOfPage = isOfPage;
    this.#mayHang = mayHang;
    this.#signal = signal ?? null;
    signal?.addEventListener('abort', () => this.#begin(), { once: true });
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** How many urgent items wait that no page caused. */
  get urgentCount(): number {
    return this.#waiting.urgentCount((item) => !this.#isOfPage(item));
  }

  /** Whether items wait that a page caused, and whether any others do. */
  get waits(): { ofPages: boolean; others: boolean } {
    const isOther = (item: Item) => !this.#isOfPage(item);
    return { ofPages: this.#waiting.has(this.#isOfPage), others: this.#waiting.has(isOther) };
  }

  /** Whether the lanes of pages hang: after such a stall, until a hand-off that a page caused ends. */
  get arePagesHanging(): boolean {
    return this.#hangsSince !== null;
  }

  /** For how many milliseconds they hang; 0 where they do not. */
  get hangsForMs(): number {
    return this.#hangsSince === null ? 0 : performance.now() - this.#hangsSince;
  }

  /** Notes that the provider does not keep up. Returns whether only lanes that pages may use are missing. */
  noteStall(): boolean {
    const isOfPages = this.hasRoom && this.waitingCount > 0;
    if (isOfPages) this.#hangsSince ??= performance.now();
    return isOfPages;
  }

  /** What there is of it: hand-offs that have begun, what waits for a lane, and what is tracked. */
  get load(): Load {
    return { busy: this.#busy, waiting: this.#waiting.length, tracked: this.#tracked };
  }

  /** Whether more could be begun at once: beside what waits for a lane that pages may use. */
  get hasRoom(): boolean {
    return this.#hasLane && !this.#waiting.has(this.#mayGo);
  }

  /** Whether somebody adds to it just now. */
  get isFed(): boolean {
    return this.#isFed;
  }

  set isFed(isFed: boolean) {
    this.#isFed = isFed;
    this.#watchers.notify();
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#busy === 0 && this.#tracked === 0;
  }

  /** Adds items. As many moments come with them, of `performance.now()`, from which one item each may begin. */
  add(items: readonly Item[], momentOf: (at: number) => number = AT_ONCE): void {
    this.#waiting.add(items, momentOf);
    this.#begin();
  }

  /** There may be more: the job that feeds it looks again. */
  ask(): void {
    this.isAskedAgain = true;
    this.mayOvertake = true;
    this.#watchers.notify();
  }

  /** Whoever watches it looks again: something else that they wait for may be so. */
  nudge(): void {
    this.#watchers.notify();
  }

  /** How many items are under way at a time. */
  get lanesMax(): number {
    return this.#lanesMax;
  }

  /** Lowers how many items are under way at a time, to at least one, until this turn ends. */
  limitLanes(lanesMax: number): void {
    this.#lanesMax = Math.max(1, Math.min(this.#lanesMax, lanesMax));
  }

  /** Takes back what was not begun. */
  drain(): Item[] {
    this.#clearTimer();
    return this.#waiting.drain();
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
  when(isSo: () => boolean, withinMs: number): Promise<boolean> {
    return this.#watchers.when(isSo, withinMs);
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

  get #hasLane(): boolean {
    const trackedMax = TRACKED_PER_LANE_MAX * this.#lanesMax;
    // What is under way is tracked next.
    return this.#busy < this.#lanesMax && this.#busy + this.#tracked < trackedMax;
  }

  readonly #mayGo = (item: Item): boolean =>
    !this.#mayHang(item) || this.#busyForPages < lanesOfPages(this.#lanesMax);

  #begin(): void {
    this.#clearTimer();
    while (this.#hasLane && this.#waiting.has(this.#mayGo)) {
      const earlyMs = (this.#waiting.nextAt ?? 0) - performance.now();
      if (earlyMs > 0 && this.#signal?.aborted !== true) {
        this.#timer = setTimeout(() => this.#begin(), earlyMs);
        break;
      }
      void this.#run();
    }
    this.#watchers.notify();
  }

  /** More of it may have been left behind. */
  #endHanging(): void {
    this.#hangsSince = null;
    this.isAskedAgain = true;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #run(): Promise<void> {
    const item = this.#waiting.take(this.#mayGo);
    if (item === undefined) return;
    const forPages = this.#mayHang(item) ? 1 : 0;
    this.#busy += 1;
    this.#busyForPages += forPages;
    await this.#work(item, this).catch((error: unknown) => this.#errors.push(error));
    this.#busy -= 1;
    this.#busyForPages -= forPages;
    if (forPages > 0 && this.arePagesHanging) this.#endHanging();
    this.#ended += 1;
    this.#begin();
  }
}
