/** So many urgent items go in a row at most while others wait: three quarters, so that the others do not starve. */
export const URGENT_IN_A_ROW_MAX = 3;

const ALWAYS = (): boolean => true;

/**
 * The items of a turn that wait for a lane. Urgent ones overtake the others. The moments from which items may begin
 * belong to the line: the next item takes the next moment, whichever item that is.
 */
export class Line<Item> {
  readonly #isUrgent: (item: Item) => boolean;
  readonly #urgent: Item[] = [];
  readonly #others: Item[] = [];
  /** Of `performance.now()`, the first first. */
  #moments: number[] = [];
  #urgentInARow = 0;

  constructor(isUrgent: (item: Item) => boolean) {
    this.#isUrgent = isUrgent;
  }

  get length(): number {
    return this.#urgent.length + this.#others.length;
  }

  /** How many urgent items wait, of those that match. */
  urgentCount(isCounted: (item: Item) => boolean = ALWAYS): number {
    return this.#urgent.filter(isCounted).length;
  }

  /** From when the next item may begin; null where none waits. */
  get nextAt(): number | null {
    return this.#moments[0] ?? null;
  }

  /** Adds items, and for each a moment. */
  add(items: readonly Item[], momentOf: (at: number) => number): void {
    for (const item of items) (this.#isUrgent(item) ? this.#urgent : this.#others).push(item);
    this.#moments.push(...items.map((_, at) => momentOf(at)));
    this.#moments.sort((a, b) => a - b);
  }

  /** Takes the next item that may go, with the next moment. */
  take(mayGo: (item: Item) => boolean = ALWAYS): Item | undefined {
    const urgent = this.#urgent.findIndex(mayGo);
    const other = this.#others.findIndex(mayGo);
    if (urgent < 0 && other < 0) return undefined;
    this.#moments.shift();
    const isUrgent = urgent >= 0 && (other < 0 || this.#urgentInARow < URGENT_IN_A_ROW_MAX);
    this.#urgentInARow = isUrgent ? this.#urgentInARow + 1 : 0;
    const [item] = isUrgent ? this.#urgent.splice(urgent, 1) : this.#others.splice(other, 1);
    return item;
  }

  /** Whether any item may go. */
  has(mayGo: (item: Item) => boolean): boolean {
    return this.#urgent.some(mayGo) || this.#others.some(mayGo);
  }

  /** Takes all items. */
  drain(): Item[] {
    this.#moments = [];
    return [...this.#urgent.splice(0), ...this.#others.splice(0)];
  }
}
