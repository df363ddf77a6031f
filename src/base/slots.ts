import { hash, randomBytes } from 'node:crypto';

/** Names that strangers choose share so many counters, so no flood of names fills the memory. */
export const COUNTERS_MAX = 65_536;

/** Maps texts that strangers choose to numbers, under a secret: a stranger cannot find two texts of one slot. */
export class Slots {
  readonly #secret = randomBytes(32).toString('hex');

  /** Returns the counter of a text, below COUNTERS_MAX. */
  of(text: string): number {
    return hash('sha256', this.#secret + text, 'buffer').readUInt32BE() % COUNTERS_MAX;
  }
}
