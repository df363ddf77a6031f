import { misused } from './failure.ts';
import type { Line, Options } from './arguments.ts';
import type { World } from './terminal.ts';

/** What came of a command. */
export type Answer = {
  /** What --json prints. */
  value: unknown;
  /** What people read, on stdout. */
  text: string;
  /** What they are told besides, on stderr. */
  aside?: string;
};

/** What a command was given on its line. */
export class Given {
  readonly #options: Line['options'];
  readonly words: readonly string[];

  constructor(words: readonly string[], options: Line['options']) {
    this.words = words;
    this.#options = options;
  }

  /** What an option was given. */
  text(name: string): string | undefined {
    const value = this.#options.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** Whether a switch was said. */
  is(name: string): boolean {
    return this.#options.has(name);
  }

  /** A word that must be there. */
  word(at: number, what: string): string {
    const word = this.words[at];
    if (word === undefined || word === '') throw misused(`Say ${what}.`);
    return word;
  }
}

export type Command = {
  /** Its words, such as `keys create`. */
  name: string;
  /** What it needs after them, such as `<kind>`. */
  takes?: string;
  /** How many words it takes at most. */
  wordsMax: number;
  says: string;
  /** What else there is to know. */
  more?: string;
  options?: Options;
  /** Whether it is about one project. */
  isOfProject?: boolean;
  /** What it does where nothing else is said. */
  isDefaultOf?: string;
  run: (given: Given, world: World) => Promise<Answer>;
};

/** What every command takes. */
export const EVERYWHERE: Options = {
  url: { takes: 'address', says: 'The installation; else TRUNKLINE_URL, else the last login’s.' },
  insecure: { says: 'Send passwords and sessions to an http:// address elsewhere, too.' },
  json: { says: 'Print JSON, errors too (on stderr), and ask nobody anything.' },
  help: { short: 'h', says: 'Say how it is used.' },
  version: { short: 'v', says: 'Print the version of this program.' },
};
export const OF_PROJECT: Options = {
  project: {
    takes: 'name or id',
    says: 'Which one; else TRUNKLINE_PROJECT, what `use` chose, or the only one.',
  },
};

/** What one command takes. */
export const optionsOf = ({ options = {}, isOfProject = false }: Command): Options => ({
  ...options,
  ...(isOfProject ? OF_PROJECT : {}),
  ...EVERYWHERE,
});
