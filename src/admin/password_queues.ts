import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';

/** Each password that is checked takes 32 MiB and one of the four threads that resolve names and read files. */
export const STRANGERS_AT_ONCE_MAX = 2;
/** People with a session or a known device do not wait behind strangers. */
export const KNOWN_AT_ONCE_MAX = 1;
export const PASSWORDS_WAITING_MAX = 20;
/** How many places of its queue one person has, with all sessions and devices together. */
export const PLACES_PER_PERSON_MAX = 2;
/** How many places of its queue one origin of strangers has: less than half of them. */
export const PLACES_PER_ORIGIN_MAX = 10;

export type QueueBounds = { atOnce: number; perLine: number };

/**
 * Checks a few passwords at a time, has a few more wait, and refuses the rest. Each line, which is a person or an
 * origin, has a few of the places, so one line never takes the places of all others.
 */
export class PasswordQueue {
  readonly #bounds: QueueBounds;
  readonly #waiting: (() => void)[] = [];
  readonly #placesOf = new Map<string, number>();
  #running = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  async run<T>(line: string, work: () => Promise<T>): Promise<T> {
    this.#takePlace(line);
    await this.#wait();
    try {
      return await work();
    } finally {
      this.#startNext();
      this.#leavePlace(line);
    }
  }

  /** Refuses a line that has all of its places, and every line when the queue is full. */
  #takePlace(line: string): void {
    const places = this.#placesOf.get(line) ?? 0;
    const isFull =
      this.#running >= this.#bounds.atOnce && this.#waiting.length >= PASSWORDS_WAITING_MAX;
    if (isFull || places >= this.#bounds.perLine)
      throw new Refusal('overloaded', {
        detail: 'Too many passwords are being checked. Try again in a moment.',
        retryAfterSeconds: 1,
      });
    this.#placesOf.set(line, places + 1);
  }

  #leavePlace(line: string): void {
    const left = (this.#placesOf.get(line) ?? 1) - 1;
    if (left > 0) this.#placesOf.set(line, left);
    else this.#placesOf.delete(line);
  }

  async #wait(): Promise<void> {
    if (this.#running < this.#bounds.atOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

export type PasswordQueues = { strangers: PasswordQueue; known: PasswordQueue };

const OF_STRANGERS = { atOnce: STRANGERS_AT_ONCE_MAX, perLine: PLACES_PER_ORIGIN_MAX };
const OF_KNOWN = { atOnce: KNOWN_AT_ONCE_MAX, perLine: PLACES_PER_PERSON_MAX };

/** Makes the two queues of a process. */
export const makePasswordQueues = (deps: Pick<Deps, 'resources'>): PasswordQueues => {
  const [strangers, known] = [new PasswordQueue(OF_STRANGERS), new PasswordQueue(OF_KNOWN)];
  const max = PASSWORDS_WAITING_MAX;
  watchQueue(deps, 'sign_ins', { size: () => strangers.waitingCount, max });
  watchQueue(deps, 'sign_ins_of_known', { size: () => known.waitingCount, max });
  return { strangers, known };
};
