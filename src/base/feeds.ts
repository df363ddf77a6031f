import { inProject } from './db.ts';
import type { Db, Scope } from './db.ts';
import type { Deps } from './deps.ts';
import type { Keys } from './keys.ts';

/** How often is looked what has changed, once for everybody who looks on in this process. */
export const FEED_EVERY_MS = 1_000;

/** What people look on at: part of a project, by name. */
export type Source<T> = { name: string; read: (scope: Scope) => Promise<T> };

type FeedDeps = { db: Db; keys: Keys };
type Asked<T> = { projectId: string; source: Source<T> };

/** One reader of one part of a project, for as long as anybody looks on. Keeps the newest state only. */
class Feed<T> {
  #latest: { value: T; text: string; number: number } | null = null;
  #failure: { error: unknown } | null = null;
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #read: () => Promise<T>;
  readonly #onIdle: () => void;

  constructor(read: () => Promise<T>, onIdle: () => void) {
    this.#read = read;
    this.#onIdle = onIdle;
  }

  #wake(): void {
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  /** Looks, and again a while after that is done: a slow database is asked less often, never more at once. */
  async #look(): Promise<void> {
    try {
      const value = await this.#read();
      const text = JSON.stringify(value);
      if (text !== this.#latest?.text) {
        this.#latest = { value, text, number: (this.#latest?.number ?? 0) + 1 };
        this.#wake();
      }
    } catch (error) {
      this.#failure = { error };
      this.#wake();
      return;
    }
    if (this.#watchers > 0) this.#timer = setTimeout(() => void this.#look(), FEED_EVERY_MS);
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        this.#waiting.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', go);
      if (signal.aborted) go();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** What it says. To be started at once: it is known to nobody any more after its last reader has left. */
  async *watch(signal: AbortSignal): AsyncGenerator<T, void> {
    this.#watchers += 1;
    if (this.#watchers === 1) void this.#look();
    try {
      for (let seen = 0; !signal.aborted;) {
        if (this.#failure) throw this.#failure.error;
        if (this.#latest && this.#latest.number > seen) {
          seen = this.#latest.number;
          yield this.#latest.value;
        } else await this.#changed(signal);
      }
    } finally {
      this.#watchers -= 1;
      if (this.#watchers === 0 || this.#failure) {
        this.close();
        this.#onIdle();
      }
    }
  }
}

/** The feeds of this process, each read once however many look on. */
export class Feeds {
  readonly #deps: FeedDeps;
  readonly #feeds = new Map<string, Feed<unknown>>();

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#feeds.size;
  }

  #of<T>({ projectId, source }: Asked<T>): Feed<T> {
    const name = `${projectId}/${source.name}`;
    const known = this.#feeds.get(name);
    if (known) return known as Feed<T>;
    const feed = new Feed(
      () => inProject(this.#deps, projectId, source.read),
      () => {
        if (this.#feeds.get(name) === feed) this.#feeds.delete(name);
      },
    );
    this.#feeds.set(name, feed);
    return feed;
  }

  /**
   * The state as it is, and each one that follows; what came in between of a reader that is slow is left out. Nothing
   * is read before it is asked for the first, and it ends when the signal says so.
   */
  async *watch<T>(asked: Asked<T>, signal: AbortSignal): AsyncGenerator<T, void> {
    if (!signal.aborted) yield* this.#of(asked).watch(signal);
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close();
  }
}

const makeFeeds = (deps: FeedDeps): Feeds => new Feeds(deps);

export const feedsOf = (deps: Deps): Feeds => deps.resources.of(makeFeeds, deps);

/** What a part of a project is, and each time it changes, until the signal says that it is enough. */
export const watch = <T>(
  deps: Deps,
  asked: Asked<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void> => feedsOf(deps).watch(asked, signal);
