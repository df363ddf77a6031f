/** Numbers that look random and are the same again for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` up to and without `end`. */
  between(least: number, end: number): number {
    return least + Math.floor(this.next() * (end - least));
  }

  isLucky(chance: number): boolean {
    return this.next() < chance;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.between(0, from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  /** The same things in another order. */
  shuffle<T>(things: readonly T[]): T[] {
    return things
      .map((thing) => ({ thing, rank: this.next() }))
      .toSorted((one, other) => one.rank - other.rank)
      .map(({ thing }) => thing);
  }

  /** Another sequence, which this one decides. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 32));
  }
}
