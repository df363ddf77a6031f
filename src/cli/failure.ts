/** What a command ends with. */
export const EXIT_CODES = {
  /** It was done, or there was nothing to do. */
  done: 0,
  /** The service refused it, or something failed. */
  failed: 1,
  /** It was called wrongly; the service was asked for no change. */
  usage: 2,
  /** Nobody is signed in, the session has ended, or the login was wrong. */
  signed_out: 3,
  /** The service cannot be reached, or cannot work just now. */
  unreachable: 4,
  /** Somebody changed it meanwhile: look again. */
  changed: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const;
export type Ending = keyof typeof EXIT_CODES;

type More = {
  /** What to do about it, a line each. */
  todo?: string[];
  /** What the service said, for programs. */
  said?: object;
  cause?: unknown;
};

/** Why a command ends without having done what was asked, in a sentence for people. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly ending: Ending;
  readonly todo: string[];
  readonly said: object;

  constructor(ending: Ending, message: string, { todo = [], said = {}, cause }: More = {}) {
    super(message, { cause });
    this.ending = ending;
    this.todo = todo;
    this.said = said;
  }
}

/** It was called wrongly. */
export const misused = (message: string, ...todo: string[]): Failure =>
  new Failure('usage', message, { todo });
