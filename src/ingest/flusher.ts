import { setImmediate as turn } from 'node:timers/promises';
import { isDatabaseDown } from '../base/database_errors.ts';
import { Refusal } from '../base/refusal.ts';
import { PUBLISHABLE_PART } from '../base/session_turns.ts';
import type { TurnKind } from '../base/session_turns.ts';
import { Watchers } from '../base/watchers.ts';

/** How many events one transaction stores at most. */
export const FLUSH_EVENTS_MAX = 500;
/** How much text one transaction stores at most, unless a single request brings more. */
export const FLUSH_BYTES_MAX = 8 * 1024 * 1024;
/** How many events of all projects may wait in memory for their transaction, and how large. Past it: 503. */
export const QUEUED_EVENTS_MAX = 20_000;
export const QUEUED_BYTES_MAX = 64 * 1024 * 1024;
/** Events of web pages fill at most half of that, so that an event of a server finds room in any flood of theirs. */
export const PUBLISHABLE_QUEUED_EVENTS_MAX = Math.floor(QUEUED_EVENTS_MAX * PUBLISHABLE_PART);
export const PUBLISHABLE_QUEUED_BYTES_MAX = Math.floor(QUEUED_BYTES_MAX * PUBLISHABLE_PART);
export const RETRY_AFTER_SECONDS = 1;
/** How long a busy project waits at most for requests to share its next commit. */
const GATHER_MS = 2;

type Waiting<Item, Stored> = {
  items: Item[];
  bytes: number;
  kind: TurnKind;
  resolve: (stored: Stored[]) => void;
  reject: (error: unknown) => void;
};

/** The requests of one project that wait, servers' and web pages' apart. */
type Queue<Item, Stored> = {
  waiting: Record<TurnKind, Waiting<Item, Stored>[]>;
  /** The kind whose requests come first in the next flush. */
  first: TurnKind;
  /** How many requests there seem to be at a time: in flight, waiting, or asking again any moment. */
  about: number;
  /** Told of every request that comes while the next flush gathers. */
  watchers: Watchers;
};
/** How much of the requests of a moment ago are still expected. */
const STILL_ABOUT = 0.9;

/** Stores the items of one project whole, and answers one result per item, in order. */
export type Store<Item, Stored> = (projectId: string, items: Item[]) => Promise<Stored[]>;

type Size = { events: number; bytes: number };
const MOST: Record<TurnKind, Size> = {
  server: { events: QUEUED_EVENTS_MAX, bytes: QUEUED_BYTES_MAX },
  publishable: { events: PUBLISHABLE_QUEUED_EVENTS_MAX, bytes: PUBLISHABLE_QUEUED_BYTES_MAX },
};

const countWaiting = ({ waiting }: { waiting: Record<TurnKind, readonly unknown[]> }): number =>
  waiting.server.length + waiting.publishable.length;

/**
 * Lets requests that arrive while a project's flush is in flight share the next one.
 *
 * An idle project is flushed at once, a busy one as fast as its commits allow, save for GATHER_MS at
 * most. Nothing waits here that was answered already, so losing the process loses no promise.
 */
export class Flusher<Item, Stored> {
  readonly #store: Store<Item, Stored>;
  readonly #bytesOf: (item: Item) => number;
  readonly #queues = new Map<string, Queue<Item, Stored>>();
  readonly #queued: Record<TurnKind, Size> = {
    server: { events: 0, bytes: 0 },
    publishable: { events: 0, bytes: 0 },
  };

  constructor(store: Store<Item, Stored>, bytesOf: (item: Item) => number) {
    this.#store = store;
    this.#bytesOf = bytesOf;
  }

  /** Returns how many items wait for their transaction, or are in it. */
  get queuedCount(): number {
    return this.#queued.server.events + this.#queued.publishable.events;
  }

  get queuedBytes(): number {
    return this.#queued.server.bytes + this.#queued.publishable.bytes;
  }

  /** Returns how much of that web pages sent. */
  get publishable(): Readonly<Size> {
    return this.#queued.publishable;
  }

  /** Resolves when the items are committed. Refuses with `overloaded` when too much waits already. */
  add(projectId: string, items: Item[], kind: TurnKind = 'server'): Promise<Stored[]> {
    const bytes = items.reduce((sum, item) => sum + this.#bytesOf(item), 0);
    if (!this.#hasRoom(kind, { events: items.length, bytes }))
      return Promise.reject(new Refusal('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    const queued = this.#queued[kind];
    queued.events += items.length;
    queued.bytes += bytes;
    return new Promise((resolve, reject) => {
      const known = this.#queues.get(projectId);
      const queue = known ?? newQueue<Item, Stored>();
      queue.waiting[kind].push({ items, bytes, kind, resolve, reject });
      queue.watchers.notify();
      if (known) return;
      this.#queues.set(projectId, queue);
      void this.#drain(projectId, queue);
    });
  }

  #hasRoom(kind: TurnKind, { events, bytes }: Size): boolean {
    const own = this.#queued[kind];
    return (
      this.queuedCount + events <= MOST.server.events &&
      this.queuedBytes + bytes <= MOST.server.bytes &&
      own.events + events <= MOST[kind].events &&
      own.bytes + bytes <= MOST[kind].bytes
    );
  }

  async #drain(projectId: string, queue: Queue<Item, Stored>): Promise<void> {
    while (countWaiting(queue) > 0) {
      const flush = takeFlush(queue);
      await this.#flush(projectId, flush);
      await this.#gather(queue, flush.length);
    }
    this.#queues.delete(projectId);
  }

  /**
   * Waits until half of those who are about are here: whoever was just answered tends to ask again at once.
   * Otherwise a few early ones would have a commit of their own, and all others wait for it.
   */
  async #gather(queue: Queue<Item, Stored>, answered: number): Promise<void> {
    queue.about = Math.max(answered + countWaiting(queue), Math.floor(queue.about * STILL_ABOUT));
    const isEnough = (): boolean => countWaiting(queue) >= queue.about / 2;
    await turn();
    await queue.watchers.when(isEnough, GATHER_MS);
  }

  /** One bad neighbour must not hurt others: what cannot be stored together is tried in halves. */
  async #flush(projectId: string, flush: Waiting<Item, Stored>[]): Promise<void> {
    try {
      const stored = await this.#store(
        projectId,
        flush.flatMap(({ items }) => items),
      );
      let from = 0;
      for (const waiting of flush) {
        const to = from + waiting.items.length;
        this.#settle(waiting, () => waiting.resolve(stored.slice(from, to)));
        from = to;
      }
    } catch (error) {
      if (flush.length === 1 || isDatabaseDown(error)) {
        for (const waiting of flush) this.#settle(waiting, () => waiting.reject(error));
        return;
      }
      const middle = Math.ceil(flush.length / 2);
      await this.#flush(projectId, flush.slice(0, middle));
      await this.#flush(projectId, flush.slice(middle));
    }
  }

  #settle({ items, bytes, kind }: Waiting<Item, Stored>, answer: () => void): void {
    const queued = this.#queued[kind];
    queued.events -= items.length;
    queued.bytes -= bytes;
    answer();
  }
}

const newQueue = <Item, Stored>(): Queue<Item, Stored> => ({
  waiting: { server: [], publishable: [] },
  first: 'server',
  about: 0,
  watchers: new Watchers(),
});

/**
 * Takes the requests of the next flush from the queue: whole ones, so that each is stored in one transaction or not at
 * all. Where both kinds wait, each is sure of half of the flush, and they take turns at being first: a request
 * larger than half is then stored, too.
 */
const takeFlush = <Item, Stored>(queue: Queue<Item, Stored>): Waiting<Item, Stored>[] => {
  const { waiting, first } = queue;
  const taken: Waiting<Item, Stored>[] = [];
  const size: Size = { events: 0, bytes: 0 };
  const take = (kind: TurnKind, part: number): void => {
    let count = 0;
    for (const next of waiting[kind]) {
      const events = size.events + next.items.length;
      const bytes = size.bytes + next.bytes;
      const isFull = events > FLUSH_EVENTS_MAX * part || bytes > FLUSH_BYTES_MAX * part;
      if (taken.length > 0 && isFull) break;
      Object.assign(size, { events, bytes });
      taken.push(next);
      count += 1;
    }
    waiting[kind].splice(0, count);
  };
  const second = first === 'server' ? 'publishable' : 'server';
  const isBoth = waiting[first].length > 0 && waiting[second].length > 0;
  if (isBoth) queue.first = second;
  take(first, isBoth ? PUBLISHABLE_PART : 1);
  take(second, 1);
  take(first, 1);
  return taken;
};
