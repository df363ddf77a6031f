import { setTimeout as wait } from 'node:timers/promises';
import { sql } from './db.ts';
import type { Deps } from './deps.ts';

/** A task to wake and the ids it needs. What the task does follows from rows, never from here. */
export type Hint = {
  task: string;
  payload: Record<string, string>;
  /** For work that should have been found long ago: leaves a job alone that waits for its next try. */
  isReminder?: boolean;
};

/**
 * Wakes a worker, after the commit of what it shall look at. A hint that cannot be given is only
 * logged: the rows are there, and the sweeper finds them. So its commit does not wait for the disk either.
 */
export const hint = async (
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { task, payload, isReminder = false }: Hint,
): Promise<void> => {
  try {
    await db.query(
      sql.unsafe`
        select set_config('synchronous_commit', 'off', true) from queue.add_hint(
          task => ${task}, payload => ${JSON.stringify(payload)}::jsonb, is_reminder => ${isReminder}
        )
      `,
    );
  } catch (error) {
    log.warn({ err: error, task }, 'hint not given; the sweeper will find the work');
  }
};

export const giveHints = async (deps: Pick<Deps, 'db' | 'log'>, hints: Hint[]): Promise<void> => {
  for (const one of hints) await hint(deps, one);
};

/** How long hints for the same work wait for each other, once one was given. */
export const HINT_PAUSE_MS = 20;

/**
 * Gives a hint at once, and those for the same work that follow it closely as one: a busy project
 * commits hundreds of times a second, and a hint looks at whatever there is.
 */
export class Waker {
  readonly #deps: Pick<Deps, 'db' | 'log'>;
  readonly #asked = new Map<string, { isAskedAgain: boolean; done: Promise<void> }>();
  readonly #closing = new AbortController();

  constructor(deps: Pick<Deps, 'db' | 'log'>) {
    this.#deps = deps;
  }

  /** Gives a hint soon. One that comes after the close is dropped: the sweeper finds the work. */
  wake(one: Hint): void {
    if (this.#closing.signal.aborted) return;
    const work = one.task + JSON.stringify(one.payload);
    const asked = this.#asked.get(work);
    if (asked) {
      asked.isAskedAgain = true;
      return;
    }
    const asking = { isAskedAgain: true, done: Promise.resolve() };
    this.#asked.set(work, asking);
    asking.done = this.#give(one, asking, work);
  }

  /** Gives what is still asked for, without a pause; nothing is given once this is done. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#asked.values()].map(({ done }) => done));
  }

  async #give(one: Hint, asking: { isAskedAgain: boolean }, work: string): Promise<void> {
    const { signal } = this.#closing;
    while (asking.isAskedAgain) {
      asking.isAskedAgain = false;
      await hint(this.#deps, one);
      await wait(HINT_PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    // At once: whoever asks after the last look begins anew.
    this.#asked.delete(work);
  }
}

export const makeWaker = (deps: Pick<Deps, 'db' | 'log'>): Waker => new Waker(deps);
