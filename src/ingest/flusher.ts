import { setImmediate as turn } from 'node:timers/promises';
import { isDatabaseDown } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { Watchers } from '../base/watchers.ts';

/** How many events one transaction stores at most. */
export const FLUSH_EVENTS_MAX = 500;
/** How much text one transaction stores at most, unless a single request brings more. */
export const FLUSH_BYTES_MAX = 8 * 1024 * 1024;
/** How many events of all projects may wait in memory for their transaction, and how large. Past it: 503. */
export const QUEUED_EVENTS_MAX = 20_000;
export const QUEUED_BYTES_MAX = 64 * 1024 * 1024;
export const RETRY_AFTER_SECONDS = 1;
/** How long a busy project waits at most for requests to share its next commit. */
const GATHER_MS = 2;

type Waiting<Item, Stored> = {
  items: Item[];
  bytes: number;
  resolve: (stored: Stored[]) => void;
  reject: (error: unknown) => void;
};

/** What of one project is on its way. */
type Queue<Item, Stored> = {
  waiting: Waiting<Item, Stored>[];
  /** How many requests there seem to be at a time: in flight, waiting, or asking again any moment. */
  about: number;
  /** Told of every request that comes while the next flush gathers. */
  watchers: Watchers;
};
/** How much of the requests of a moment ago are still expected. */
const STILL_ABOUT = 0.9;

/** Stores the items of one project whole, and answers one result per item, in order. */
export type Store<Item, Stored> = (projectId: string, items: Item[]) => Promise<Stored[]>;

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
  #queuedCount = 0;
  #queuedBytes = 0;

  constructor(store: Store<Item, Stored>, bytesOf: (item: Item) => number) {
    this.#store = store;
    this.#bytesOf = bytesOf;
  }

  /** How many items wait for their transaction, or are in it. */
  get queuedCount(): number {
    return this.#queuedCount;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Resolves when the items are committed. Refuses with `overloaded` when too much waits already. */
  add(projectId: string, items: Item[]): Promise<Stored[]> {
    const bytes = items.reduce((sum, item) => sum + this.#bytesOf(item), 0);
    if (
      this.#queuedCount + items.length > QUEUED_EVENTS_MAX ||
      this.#queuedBytes + bytes > QUEUED_BYTES_MAX
    ) {
      return Promise.reject(new Refusal('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    }
    this.#queuedCount += items.length;
    this.#queuedBytes += bytes;
    return new Promise((resolve, reject) => {
      const known = this.#queues.get(projectId);
      const queue = known ?? { waiting: [], about: 0, watchers: new Watchers() };
      queue.waiting.push({ items, bytes, resolve, reject });
      queue.watchers.notify();
      if (known) return;
      this.#queues.set(projectId, queue);
      void this.#drain(projectId, queue);
    });
  }

  async #drain(projectId: string, queue: Queue<Item, Stored>): Promise<void> {
    while (queue.waiting.length > 0) {
      const flush = this.#take(queue);
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
    queue.about = Math.max(answered + queue.waiting.length, Math.floor(queue.about * STILL_ABOUT));
    const isEnough = (): boolean => queue.waiting.length >= queue.about / 2;
    await turn();
    await queue.watchers.when(isEnough, GATHER_MS);
  }

  /** Whole requests, so that each is stored in one transaction or not at all. */
  #take(queue: Queue<Item, Stored>): Waiting<Item, Stored>[] {
    let count = 0;
    let size = 0;
    let requests = 0;
    for (const { items, bytes } of queue.waiting) {
      count += items.length;
      size += bytes;
      if (requests > 0 && (count > FLUSH_EVENTS_MAX || size > FLUSH_BYTES_MAX)) break;
      requests += 1;
    }
    return queue.waiting.splice(0, requests);
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

  #settle({ items, bytes }: Waiting<Item, Stored>, answer: () => void): void {
    this.#queuedCount -= items.length;
    this.#queuedBytes -= bytes;
    answer();
  }
}
