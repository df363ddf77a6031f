/** A source of numbers that is the same for the same seed on every machine (sfc32). */
export class Random {
  readonly #state: Uint32Array<ArrayBuffer>;

  constructor(...seeds: number[]) {
    this.#state = Uint32Array.of(seeds[0] ?? 0, seeds[1] ?? 0, seeds[2] ?? 0, 1);
    for (let round = 0; round < 15; round += 1) this.bits();
  }

  /** 32 random bits. */
  bits(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, count = 0] = state;
    const sum = (a + b + count) | 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    state[3] = count + 1;
    return sum >>> 0;
  }

  /** From 0 up to, not including, 1. */
  unit(): number {
    return this.bits() / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, a bound. */
  below(bound: number): number {
    return Math.floor(this.unit() * bound);
  }

  isTrue(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** How often a chance of going on was taken in a row; at most so often. */
  times(probability: number, most: number): number {
    let count = 0;
    while (count < most && this.isTrue(probability)) count += 1;
    return count;
  }

  /** A UUID version 7 of a moment: sorts by time, as the ids that the service makes. */
  idAt(time: number): string {
    const hex = time.toString(16).padStart(12, '0');
    const word = (): string => this.bits().toString(16).padStart(8, '0');
    const [a, b, c] = [word(), word(), word()];
    const variant = '89ab'.charAt(this.below(4));
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7${a.slice(0, 3)}-${variant}${a.slice(3, 6)}-${b}${c.slice(0, 4)}`;
  }
}
