/**
 * How many characters of one email are read for hosts, and how deep pieces are read in pieces. Each character counts
 * again wherever a piece that it is in is read in another way. Mail software cuts an email of 100 KB.
 */
export const HOSTS_CHARS_MAX = 4_000_000;
export const HOSTS_DEPTH_MAX = 20;

/** An email has too much that could be a link to be read. */
export class TooMuchToRead extends Error {
  override readonly name = 'TooMuchToRead';
}

/** Hosts that were found, and the pieces that were read for them: an email repeats its links and words. */
export class Hosts {
  readonly found = new Set<string>();
  readonly #read = new Set<string>();
  readonly #known: Hosts | null;
  #charsLeft = HOSTS_CHARS_MAX;
  #depth = 0;

  /** Without what is found in pieces that others know. */
  constructor(known: Hosts | null = null) {
    this.#known = known;
  }

  get charsRead(): number {
    return HOSTS_CHARS_MAX - this.#charsLeft;
  }

  hasRead(piece: string): boolean {
    return this.#read.has(piece) || this.#known?.hasRead(piece) === true;
  }

  /** Counts characters that are read, also of a piece that was read before. Throws TooMuchToRead. */
  count(chars: number): void {
    this.#charsLeft -= chars;
    if (this.#charsLeft < 0) throw new TooMuchToRead();
  }

  /** Whether a piece was not read before. */
  isNew(piece: string): boolean {
    if (this.hasRead(piece)) return false;
    this.count(piece.length);
    this.#read.add(piece);
    return true;
  }

  /** Reads a piece of what is being read. */
  inside(read: () => void): void {
    if (this.#depth === HOSTS_DEPTH_MAX) throw new TooMuchToRead();
    this.#depth += 1;
    read();
    this.#depth -= 1;
  }
}
