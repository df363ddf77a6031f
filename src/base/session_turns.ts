import type { Deps } from './deps.ts';
import { watchQueue } from './memory_queues.ts';
import { Refusal } from './refusal.ts';

/** How many of the pool's ten sessions requests have at a time. The rest is for what is short: keys, flushes, hints. */
export const TURNS_MAX = 8;
/** How many of them one project has, so that what stops it stops nobody else. */
export const TURNS_OF_PROJECT_MAX = 5;
/** How many requests wait for one, of a project and of all. */
export const WAITING_OF_PROJECT_MAX = 250;
export const WAITING_MAX = 1_000;
/** How long one waits: in less time, hundreds have their turn where nothing is stuck. */
export const TURN_WAIT_MAX_MS = 3_000;
const RETRY_AFTER_SECONDS = 2;

const overloaded = (): Refusal =>
  new Refusal('overloaded', {
    detail: 'Too much of this waits for the database already. Retry after Retry-After.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** What one project has of the sessions, and who of it waits for one, in the order in which they came. */
type Part = { held: number; readonly waiting: Set<() => void> };

/**
 * Whose turn it is to have a session, among the requests of this process. A project has a part of the sessions, and
 * its requests wait for each other; projects that wait have one in turn. Who finds no place to wait, or
 * waits too long, is refused.
 */
export class SessionTurns {
  readonly #parts = new Map<string, Part>();
  readonly #waitMaxMs: number;
  #heldCount = 0;
  #waitingCount = 0;

  constructor(waitMaxMs = TURN_WAIT_MAX_MS) {
    this.#waitMaxMs = waitMaxMs;
  }

  get heldCount(): number {
    return this.#heldCount;
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** How many wait of the project of which most do. */
  get mostWaiting(): number {
    return Math.max(0, ...[...this.#parts.values()].map(({ waiting }) => waiting.size));
  }

  /** Does what needs a session. It must not ask for another turn: it might be its own that it waits for. */
  async have<T>(project: string, work: () => Promise<T>): Promise<T> {
    const part = this.#parts.get(project) ?? { held: 0, waiting: new Set() };
    if (this.#isFor(part)) this.#take(project, part);
    else await this.#wait(project, part);
    try {
      return await work();
    } finally {
      this.#give(project, part);
    }
  }

  #isFor({ held }: Part): boolean {
    return held < TURNS_OF_PROJECT_MAX && this.#heldCount < TURNS_MAX;
  }

  /** Whoever had the last turn is the last of those who wait. */
  #take(project: string, part: Part): void {
    part.held += 1;
    this.#heldCount += 1;
    this.#parts.delete(project);
    this.#parts.set(project, part);
  }

  #wait(project: string, part: Part): Promise<void> {
    if (part.waiting.size >= WAITING_OF_PROJECT_MAX || this.#waitingCount >= WAITING_MAX)
      return Promise.reject(overloaded());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      clearTimeout(timer);
      part.waiting.delete(go);
      this.#waitingCount -= 1;
    };
    const go = (): void => {
      leave();
      resolve();
    };
    const timer = setTimeout(() => {
      leave();
      this.#forgetIdle(project, part);
      reject(overloaded());
    }, this.#waitMaxMs);
    this.#parts.set(project, part);
    part.waiting.add(go);
    this.#waitingCount += 1;
    return promise;
  }

  /** Passes a turn on: one that ends is the next of one request at most. */
  #give(project: string, part: Part): void {
    part.held -= 1;
    this.#heldCount -= 1;
    this.#forgetIdle(project, part);
    for (const [name, next] of this.#parts) {
      const [go] = next.waiting;
      if (!go || !this.#isFor(next)) continue;
      this.#take(name, next);
      go();
      return;
    }
  }

  #forgetIdle(project: string, { held, waiting }: Part): void {
    if (held === 0 && waiting.size === 0) this.#parts.delete(project);
  }
}

const makeSessionTurns = (deps: Pick<Deps, 'resources'>): SessionTurns => {
  const turns = new SessionTurns();
  watchQueue(deps, 'sessions', { size: () => turns.waitingCount, max: WAITING_MAX });
  const ofProject = { size: () => turns.mostWaiting, max: WAITING_OF_PROJECT_MAX };
  watchQueue(deps, 'sessions_of_a_project', ofProject);
  return turns;
};

/** The turns of this process. */
export const sessionTurnsOf = (deps: Pick<Deps, 'resources'>): SessionTurns =>
  deps.resources.of(makeSessionTurns, deps);

/** Work that asks for one session, and for no second one meanwhile: at once, or when it is its project's turn. */
export const inTurnOf = <T>(
  turns: SessionTurns | undefined,
  project: string,
  work: () => Promise<T>,
): Promise<T> => (turns ? turns.have(project, work) : work());

/** For what is asked from outside: whatever it needs a session for waits for its turn, and may be refused. */
export const inTurns = (deps: Deps): Deps => ({
  ...deps,
  turns: deps.turns ?? sessionTurnsOf(deps),
});

/** For what has to be written down because something was done: nothing of it is refused. */
export const outOfTurn = <D extends { turns?: SessionTurns }>(deps: D): Omit<D, 'turns'> => {
  const { turns: _, ...rest } = deps;
  return rest;
};
