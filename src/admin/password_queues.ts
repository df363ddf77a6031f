import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';

/** Each password that is checked takes 32 MiB and one of the four threads that resolve names and read files. */
export const STRANGERS_AT_ONCE_MAX = 2;
/** People with a session or a known device do not wait behind strangers. */
export const KNOWN_AT_ONCE_MAX = 1;
export const PASSWORDS_WAITING_MAX = 20;

/** Checks a few passwords at a time, has a few more wait, and refuses the rest. */
export class PasswordQueue {
  readonly #atOnceMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnceMax) {
      if (this.#waiting.length >= PASSWORDS_WAITING_MAX)
        throw new Refusal('overloaded', {
          detail: 'Too many passwords are being checked. Try again in a moment.',
          retryAfterSeconds: 1,
        });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

export type PasswordQueues = { strangers: PasswordQueue; known: PasswordQueue };

/** Makes the two queues of a process. */
export const makePasswordQueues = (deps: Pick<Deps, 'resources'>): PasswordQueues => {
  const strangers = new PasswordQueue(STRANGERS_AT_ONCE_MAX);
  const known = new PasswordQueue(KNOWN_AT_ONCE_MAX);
  const max = PASSWORDS_WAITING_MAX;
  watchQueue(deps, 'sign_ins', { size: () => strangers.waitingCount, max });
  watchQueue(deps, 'sign_ins_of_known', { size: () => known.waitingCount, max });
  return { strangers, known };
};
