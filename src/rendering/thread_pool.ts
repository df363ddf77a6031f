import { ThreadHandle } from './thread_handle.ts';
import type { Bounds } from './thread_handle.ts';

/** An idle thread is stopped after so long, which frees its memory. */
const IDLE_MS = 60_000;

/**
 * At most so many threads. Slow projects use all of them but one, and start threads of their own for it: a thread that
 * had to be stopped takes a second to replace, and the others would wait for that.
 */
export class ThreadPool {
  readonly #bounds: Bounds;
  readonly #threadsMax: number;
  readonly #idle: ThreadHandle[] = [];
  readonly #busy = new Set<ThreadHandle>();
  /** Threads that slow projects have used. */
  readonly #slow = new Set<ThreadHandle>();
  #resting: NodeJS.Timeout | null = null;

  constructor(threadsMax: number, bounds: Bounds) {
    this.#threadsMax = threadsMax;
    this.#bounds = bounds;
  }

  /** Returns a thread for one turn, or null where a project has to wait for one. */
  take(isSlow: boolean): ThreadHandle | null {
    const thread = isSlow && this.#threadsMax > 1 ? this.#findForSlow() : this.#find();
    if (thread) this.#busy.add(thread);
    return thread;
  }

  release(thread: ThreadHandle): void {
    this.#busy.delete(thread);
    if (thread.isDead) this.#slow.delete(thread);
    else this.#idle.push(thread);
    if (this.#resting) clearTimeout(this.#resting);
    this.#resting = setTimeout(() => void this.#stopIdle(), IDLE_MS).unref();
  }

  async close(): Promise<void> {
    if (this.#resting) clearTimeout(this.#resting);
    await Promise.all([this.#stopIdle(), ...Array.from(this.#busy, (thread) => thread.stop())]);
  }

  #find(): ThreadHandle | null {
    return (
      this.#takeIdle((thread) => !this.#slow.has(thread)) ??
      this.#start() ??
      this.#takeIdle(() => true)
    );
  }

  #findForSlow(): ThreadHandle | null {
    const known = this.#takeIdle((thread) => this.#slow.has(thread));
    if (known) return known;
    if (this.#slow.size >= this.#threadsMax - 1) return null;
    const thread = this.#start() ?? this.#takeIdle(() => true);
    if (thread) this.#slow.add(thread);
    return thread;
  }

  #takeIdle(suits: (thread: ThreadHandle) => boolean): ThreadHandle | null {
    const at = this.#idle.findLastIndex(suits);
    return at < 0 ? null : (this.#idle.splice(at, 1)[0] ?? null);
  }

  #start(): ThreadHandle | null {
    const isFull = this.#idle.length + this.#busy.size >= this.#threadsMax;
    return isFull ? null : new ThreadHandle(this.#bounds);
  }

  async #stopIdle(): Promise<void> {
    const idle = this.#idle.splice(0);
    for (const thread of idle) this.#slow.delete(thread);
    await Promise.all(idle.map((thread) => thread.stop()));
  }
}
