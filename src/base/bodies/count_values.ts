import { Refusal } from '../refusal.ts';

/**
 * How many values a JSON body holds at most, in objects and lists of all levels. Each takes 16 to 130 bytes once it is
 * parsed, and only 2 in the body. A Segment batch of 500 calls with 100 values each is the largest that clients need.
 */
export const JSON_VALUES_MAX = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANK = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

const tooMany = (valuesMax: number): Refusal =>
  new Refusal('body_too_large', {
    detail: `The body holds more than ${valuesMax} values: send less at once.`,
  });

/**
 * Counts the values of JSON from its bytes, before anything is made of them: one for each comma and each list or object
 * that is not empty, and one for the whole. Of bytes that are not JSON the count means nothing, and nothing is refused
 * that a parser would take.
 */
export class ValueCounter {
  readonly #valuesMax: number;
  #count = 1;
  #isInText = false;
  #isEscaped = false;
  /** Whether a list or an object has just begun. */
  #hasBegun = false;

  constructor(valuesMax = JSON_VALUES_MAX) {
    this.#valuesMax = valuesMax;
  }

  /** How many values the bytes hold so far. */
  get count(): number {
    return this.#count;
  }

  /** Counts the next bytes. Throws `body_too_large` as soon as there are too many values. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#isInText) at = this.#endOfText(bytes, at);
      else this.#countAt(bytes[at] ?? 0);
      if (this.#count > this.#valuesMax) throw tooMany(this.#valuesMax);
    }
  }

  #endOfText(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInText = false;
        return at;
      }
    }
    return bytes.length;
  }

  #countAt(byte: number): void {
    switch (byte) {
      case BLANK:
      case TAB:
      case LINE_FEED:
      case CARRIAGE_RETURN:
        return;
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#countMember();
        this.#hasBegun = true;
        return;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#hasBegun = false;
        return;
      case COMMA:
        this.#count += 1;
        return;
      case QUOTE:
        this.#countMember();
        this.#isInText = true;
        return;
      default:
        this.#countMember();
    }
  }

  /** The first member of a list or an object is a value that no comma stands before. */
  #countMember(): void {
    if (this.#hasBegun) this.#count += 1;
    this.#hasBegun = false;
  }
}

/** What a value stands behind, or begins with. */
const MARKS = [',', '{', '['];

/** Counts marks in a text, in its strings too: quickly, and so never too few values. Stops past `most`. */
const countMarks = (text: string, most: number): number => {
  let count = 1;
  for (const mark of MARKS)
    for (let at = text.indexOf(mark); at >= 0 && count <= most; at = text.indexOf(mark, at + 1))
      count += 1;
  return count;
};

/**
 * Returns how many values a JSON text holds at most: about as many, and exactly where a quick count finds too many.
 * Throws `body_too_large` for more than `valuesMax`.
 */
export const countValues = (text: string, valuesMax = JSON_VALUES_MAX): number => {
  const marks = countMarks(text, valuesMax);
  if (marks <= valuesMax) return marks;
  const counter = new ValueCounter(valuesMax);
  counter.push(Buffer.from(text));
  return counter.count;
};
