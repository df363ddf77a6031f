import { refusals } from './refusal_catalogue.ts';

export { refusals };
export type RefusalName = keyof typeof refusals;

export const isRefusalName = (name: string): name is RefusalName => Object.hasOwn(refusals, name);

/** One thing that is wrong: where, as a JSON Pointer (RFC 6901) into the body, and what to do. */
export type Issue = { path: string; message: string };

export type RefusalExtras = {
  issues?: Issue[];
  /** Replaces the catalogue's sentence where one more exact is known. */
  detail?: string;
  retryAfterSeconds?: number;
  /** Members that belong to this refusal alone, such as `reason` and `fix`. */
  members?: Record<string, string>;
  cause?: unknown;
};

/**
 * An answer that the caller can act on. Anything else that is thrown is a bug and becomes a bare 500. SQL raises the
 * same names (SQLSTATE ZREFU, the name as message).
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalName;
  readonly extras: RefusalExtras;

  constructor(reason: RefusalName, extras: RefusalExtras = {}) {
    super(reason, { cause: extras.cause });
    this.reason = reason;
    this.extras = extras;
  }
}
