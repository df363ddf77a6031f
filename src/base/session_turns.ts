import type { Deps } from './deps.ts';
import { watchQueue } from './memory_queues.ts';
import { Refusal } from './refusal.ts';

/** How many of the pool's ten sessions requests hold at a time. The rest is for short work: keys, flushes, wake-ups. */
export const TURNS_MAX = 8;
/** How many of them one project holds, so that a project whose requests are stuck does not stop the others. */
export const TURNS_OF_PROJECT_MAX = 5;
/** How many requests wait for one, of a project and of all. Publishable requests wait in places of their own. */
export const WAITING_OF_PROJECT_MAX = 250;
export const WAITING_MAX = 1_000;
/** How long a request waits. In less time hundreds get their turn where nothing is stuck. */
export const TURN_WAIT_MAX_MS = 3_000;
const RETRY_AFTER_SECONDS = 2;

/** Requests of web pages get at most half of everything, so that servers always keep at least half. */
export const PUBLISHABLE_PART = 0.5;

/** Who a request is from: a web page with a publishable key, or anything else. */
export const TURN_KINDS = ['server', 'publishable'] as const;
export type TurnKind = (typeof TURN_KINDS)[number];

export type TurnBounds = {
  /** Sessions of all projects, and of one. */
  sessions: number;
  sessionsOfProject: number;
  /** Waiting places of all projects, and of one. */
  waiting: number;
  waitingOfProject: number;
  waitMs: number;
};

const OF_REQUESTS: TurnBounds = {
  sessions: TURNS_MAX,
  sessionsOfProject: TURNS_OF_PROJECT_MAX,
  waiting: WAITING_MAX,
  waitingOfProject: WAITING_OF_PROJECT_MAX,
  waitMs: TURN_WAIT_MAX_MS,
};

const halfOf = (value: number): number => Math.max(1, Math.floor(value * PUBLISHABLE_PART));

/** The part of each bound that publishable requests may fill. */
export const publishablePart = ({ waitMs, ...bounds }: TurnBounds): TurnBounds => ({
  sessions: halfOf(bounds.sessions),
  sessionsOfProject: halfOf(bounds.sessionsOfProject),
  waiting: halfOf(bounds.waiting),
  waitingOfProject: halfOf(bounds.waitingOfProject),
  waitMs,
});

const overloaded = (): Refusal =>
  new Refusal('overloaded', {
    detail: 'Too many requests already wait for the database. Retry after Retry-After.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

type Counts = Record<TurnKind, number>;
const total = ({ server, publishable }: Counts): number => server + publishable;

/** One project: the sessions it holds, and its waiting requests in the order in which they came. */
type Part = {
  held: Counts;
  readonly waiting: Record<TurnKind, Set<() => void>>;
  lastKind: TurnKind;
};

const newPart = (): Part => ({
  held: { server: 0, publishable: 0 },
  waiting: { server: new Set(), publishable: new Set() },
  lastKind: 'publishable',
});

/** Lends sessions to the work of a project, for requests of one kind. */
export type Turns = {
  readonly kind: TurnKind;
  have: <T>(project: string, work: () => Promise<T>) => Promise<T>;
};

/**
 * Lends database sessions to the requests of this process. A project has a part of the sessions, and its requests
 * wait for each other. Projects that wait get one in turn; within a project the two kinds of requests alternate.
 * Publishable requests hold at most half of the sessions, of the process and of a project, and wait in places of
 * their own. A request that finds no place to wait, or waits too long, is refused.
 */
export class SessionTurns implements Turns {
  readonly kind = 'server';
  readonly #parts = new Map<string, Part>();
  readonly #bounds: Record<TurnKind, TurnBounds>;
  readonly #held: Counts = { server: 0, publishable: 0 };
  readonly #waiting: Counts = { server: 0, publishable: 0 };

  constructor(waitMs = TURN_WAIT_MAX_MS, bounds: TurnBounds = OF_REQUESTS) {
    const server = { ...bounds, waitMs };
    this.#bounds = { server, publishable: publishablePart(server) };
  }

  get heldCount(): number {
    return total(this.#held);
  }

  get waitingCount(): number {
    return total(this.#waiting);
  }

  /** Returns how many requests of a kind hold a session, and how many wait. */
  count(kind: TurnKind): { held: number; waiting: number } {
    return { held: this.#held[kind], waiting: this.#waiting[kind] };
  }

  /** Returns how many requests of a kind wait in the project that has most of them. */
  mostWaiting(kind: TurnKind): number {
    return Math.max(0, ...[...this.#parts.values()].map(({ waiting }) => waiting[kind].size));
  }

  /** The same turns for requests of one kind. */
  of(kind: TurnKind): Turns {
    return { kind, have: (project, work) => this.have(project, work, kind) };
  }

  /** Runs work that needs a session. The work must not ask for a second turn: it could wait for its own. */
  async have<T>(project: string, work: () => Promise<T>, kind: TurnKind = 'server'): Promise<T> {
    const part = this.#parts.get(project) ?? newPart();
    if (this.#hasRoom(part, kind)) this.#take(project, part, kind);
    else await this.#wait(project, part, kind);
    try {
      return await work();
    } finally {
      this.#release(project, part, kind);
    }
  }

  #hasRoom({ held }: Part, kind: TurnKind): boolean {
    const { server, [kind]: own } = this.#bounds;
    return (
      total(held) < server.sessionsOfProject &&
      held[kind] < own.sessionsOfProject &&
      total(this.#held) < server.sessions &&
      this.#held[kind] < own.sessions
    );
  }

  /** The project that had the last turn goes to the end of the line. */
  #take(project: string, part: Part, kind: TurnKind): void {
    part.held[kind] += 1;
    this.#held[kind] += 1;
    part.lastKind = kind;
    this.#parts.delete(project);
    this.#parts.set(project, part);
  }

  #wait(project: string, part: Part, kind: TurnKind): Promise<void> {
    const bounds = this.#bounds[kind];
    const waiting = part.waiting[kind];
    if (waiting.size >= bounds.waitingOfProject || this.#waiting[kind] >= bounds.waiting)
      return Promise.reject(overloaded());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(go);
      this.#waiting[kind] -= 1;
    };
    const go = (): void => {
      leave();
      resolve();
    };
    const timer = setTimeout(() => {
      leave();
      this.#removeIdle(project, part);
      reject(overloaded());
    }, bounds.waitMs);
    this.#parts.set(project, part);
    waiting.add(go);
    this.#waiting[kind] += 1;
    return promise;
  }

  /** Passes a turn on. It may make room for two: one bound held up its project, the other its kind. */
  #release(project: string, part: Part, kind: TurnKind): void {
    part.held[kind] -= 1;
    this.#held[kind] -= 1;
    this.#removeIdle(project, part);
    while (this.#startNext());
  }

  #startNext(): boolean {
    for (const [project, part] of this.#parts) {
      const next = this.#findNext(part);
      if (!next) continue;
      this.#take(project, part, next.kind);
      next.go();
      return true;
    }
    return false;
  }

  #findNext(part: Part): { kind: TurnKind; go: () => void } | null {
    const kinds = part.lastKind === 'server' ? TURN_KINDS.toReversed() : TURN_KINDS;
    for (const kind of kinds) {
      const [go] = part.waiting[kind];
      if (go && this.#hasRoom(part, kind)) return { kind, go };
    }
    return null;
  }

  #removeIdle(project: string, { held, waiting }: Part): void {
    if (total(held) + waiting.server.size + waiting.publishable.size === 0)
      this.#parts.delete(project);
  }
}

const makeSessionTurns = (deps: Pick<Deps, 'resources'>): SessionTurns => {
  const turns = new SessionTurns();
  const parts = { server: OF_REQUESTS, publishable: publishablePart(OF_REQUESTS) };
  const names = { server: 'sessions', publishable: 'publishable_sessions' };
  for (const kind of TURN_KINDS) {
    const { waiting, waitingOfProject } = parts[kind];
    watchQueue(deps, names[kind], { size: () => turns.count(kind).waiting, max: waiting });
    const ofProject = { size: () => turns.mostWaiting(kind), max: waitingOfProject };
    watchQueue(deps, `${names[kind]}_of_a_project`, ofProject);
  }
  return turns;
};

/** The turns of this process. */
export const sessionTurnsOf = (deps: Pick<Deps, 'resources'>): SessionTurns =>
  deps.resources.of(makeSessionTurns, deps);

/** Runs work that needs one session, and no second one meanwhile: at once, or when its project has its turn. */
export const inTurnOf = <T>(
  turns: Turns | undefined,
  project: string,
  work: () => Promise<T>,
): Promise<T> => (turns ? turns.have(project, work) : work());

/** For requests from outside: each session they need is a turn, which may be refused. */
export const inTurns = (deps: Deps): Deps => ({
  ...deps,
  turns: deps.turns ?? sessionTurnsOf(deps),
});

/** The same for the requests of one kind, where the turns tell kinds apart. */
export const inTurnsOf = (deps: Deps, kind: TurnKind): Deps =>
  deps.turns instanceof SessionTurns ? { ...deps, turns: deps.turns.of(kind) } : deps;

/** For writes that must follow from work that is done: none of them is refused. */
export const outOfTurn = <D extends { turns?: Turns }>(deps: D): Omit<D, 'turns'> => {
  const { turns: _, ...rest } = deps;
  return rest;
};
