import { setTimeout as wait } from 'node:timers/promises';
import { sql } from './db.ts';
import type { Deps } from './deps.ts';
import { watchQueue } from './memory_queues.ts';

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
export const HINT_PAUSE_MS = 100;

/** How long work that nobody waits for gathers before it is hinted at. */
export const HINT_GATHER_MS = 250;

/** How many hints wait at once; past that they are dropped, as the sweeper finds the work. */
export const HINTS_WAITING_MAX = 10_000;

/** When a hint is given, and when the next for the same work may be. */
type Pace = { beforeMs: number; afterMs: number };
const AT_ONCE: Pace = { beforeMs: 0, afterMs: HINT_PAUSE_MS };
const GATHERED: Pace = { beforeMs: HINT_GATHER_MS, afterMs: 0 };

/**
 * Gives a hint at once, and those for the same work that follow it closely as one: a busy project
 * commits hundreds of times a second, and a hint looks at whatever there is.
 */
export class Waker {
  readonly #deps: Pick<Deps, 'db' | 'log'>;
  readonly #asked = new Map<string, { isAskedAgain: boolean; done: Promise<void> }>();
  readonly #closing = new AbortController();

  readonly #waitingMax: number;

  constructor(deps: Pick<Deps, 'db' | 'log'>, waitingMax = HINTS_WAITING_MAX) {
    this.#deps = deps;
    this.#waitingMax = waitingMax;
  }

  get waitingCount(): number {
    return this.#asked.size;
  }

  /** Gives a hint soon. One that comes after the close is dropped: the sweeper finds the work. */
  wake(one: Hint): void {
    this.#ask(one, AT_ONCE);
  }

  /** Gives a hint once the work has gathered for a while: a look at much of it costs little more than one at little. */
  wakeForMany(one: Hint): void {
    this.#ask(one, GATHERED);
  }

  /** Gives what is still asked for, without a pause; nothing is given once this is done. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#asked.values()].map(({ done }) => done));
  }

  #ask(one: Hint, pace: Pace): void {
    if (this.#closing.signal.aborted) return;
    const work = `${pace.beforeMs} ${one.task} ${JSON.stringify(one.payload)}`;
    const asked = this.#asked.get(work);
    if (asked) {
      asked.isAskedAgain = true;
      return;
    }
    if (this.#asked.size >= this.#waitingMax) return;
    const asking = { isAskedAgain: true, done: Promise.resolve() };
    this.#asked.set(work, asking);
    asking.done = this.#give(one, pace, { asking, work });
  }

  async #give(
    one: Hint,
    { beforeMs, afterMs }: Pace,
    { asking, work }: { asking: { isAskedAgain: boolean }; work: string },
  ): Promise<void> {
    while (asking.isAskedAgain) {
      if (beforeMs > 0) await this.#pause(beforeMs);
      asking.isAskedAgain = false;
      await hint(this.#deps, one);
      if (afterMs > 0) await this.#pause(afterMs);
    }
    // At once: whoever asks after the last look begins anew.
    this.#asked.delete(work);
  }

  /** Not at all once the process stops. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

export const makeWaker = (deps: Pick<Deps, 'db' | 'log' | 'resources'>): Waker => {
  const waker = new Waker(deps);
  watchQueue(deps, 'hints', { size: () => waker.waitingCount, max: HINTS_WAITING_MAX });
  return waker;
};
