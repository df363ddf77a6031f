import type { Logger } from '../base/log.ts';

/** How long one line stands for all requests that a process refuses with `overloaded`. */
export const OVERLOAD_LOG_MS = 10_000;

/**
 * Logs that requests were refused for want of room: once in `OVERLOAD_LOG_MS`, as a warning, with the number of those
 * since the last line. Strangers can cause such refusals, so a line for each would be theirs to write.
 */
export class OverloadLog {
  readonly #log: Logger;
  readonly #now: () => number;
  #refused = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  /** `now` returns milliseconds of any origin. */
  constructor(log: Logger, now = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  add(requestId: string): void {
    this.#refused += 1;
    const now = this.#now();
    if (now - this.#loggedAt < OVERLOAD_LOG_MS) return;
    this.#log.warn({ request_id: requestId, refused: this.#refused }, 'overloaded');
    this.#refused = 0;
    this.#loggedAt = now;
  }
}
