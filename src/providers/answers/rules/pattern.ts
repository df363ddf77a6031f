/** What a rule asks of a regular expression. */
export type Pattern = Pick<RegExp, 'test' | 'exec' | 'source'>;

class LazyPattern implements Pattern {
  readonly #write: () => string;
  #compiled: RegExp | null = null;

  constructor(write: () => string) {
    this.#write = write;
  }

  get #pattern(): RegExp {
    this.#compiled ??= new RegExp(this.#write());
    return this.#compiled;
  }

  get source(): string {
    return this.#pattern.source;
  }

  test(text: string): boolean {
    return this.#pattern.test(text);
  }

  exec(text: string): RegExpExecArray | null {
    return this.#pattern.exec(text);
  }
}

/**
 * Returns a pattern that is written and compiled at its first use. All patterns take megabytes, and a process whose
 * email is accepted uses none.
 */
export const lazyPattern = (write: () => string): Pattern => new LazyPattern(write);

/** One pattern out of several, so that each fits on a line. */
export const anyOf = (...patterns: readonly Pattern[]): Pattern =>
  lazyPattern(() => patterns.map(({ source }) => source).join('|'));
