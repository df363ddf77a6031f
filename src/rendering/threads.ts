import type { Bounds, ThreadHandle, Turned } from './thread_handle.ts';
import { ThreadPool } from './thread_pool.ts';
import type { Outcome, Task } from './tasks.ts';

export type ThreadsOptions = Bounds & {
  threadsMax: number;
  /** Batches of all projects that wait or are in a thread, and of one project. */
  waitingMax: number;
  waitingOfProjectMax: number;
};

/** So many tasks are copied into a thread for one turn at most. */
const TURN_TASKS_MAX = 50;
/** A project is slow once a turn took so much processor time, or was stopped, and stays so for a while. */
const SLOW_TURN_MS = 500;
const SLOW_FOR_MS = 60_000;
/**
 * A turn whose tasks have taken so long, and so much processor time, begins again in a thread of slow projects while
 * another project waits. A turn ends by itself after 100 ms and the task that it is at, so this is one heavy task; on a
 * busy machine light tasks last as long, and use less.
 */
const PREEMPT = { turnMs: 1_000, cpuMs: 200 } as const;
/** How often that is checked. */
const PREEMPT_CHECK_MS = 100;

type Batch = {
  projectId: string;
  tasks: readonly Task[];
  outcomes: (Outcome | null)[];
  /** Of `performance.now()`; what is not come to by then is given back. */
  endsAt: number;
  finish: (outcomes: (Outcome | null)[]) => void;
  fail: (error: Error) => void;
};

const waitingIn = ({ outcomes }: Batch): number[] =>
  outcomes.flatMap((outcome, at) => (outcome === null ? [at] : []));

/**
 * A few threads for templates, which are untrusted programs. A project uses one of them at a time, for a turn; then the
 * others have theirs. Slow projects share all threads but one, so no other project waits for their tasks, and a project
 * fills only its own part of the queue.
 */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #pool: ThreadPool;
  readonly #busy = new Set<string>();
  /** By project, in the order of their turns. */
  readonly #waiting = new Map<string, Batch[]>();
  /** Until when each slow project counts as one, of `performance.now()`; the oldest first. */
  readonly #slowUntil = new Map<string, number>();
  #waitingCount = 0;
  #preemptedCount = 0;
  #isClosed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#pool = new ThreadPool(options.threadsMax, options);
  }

  /** How many batches wait for a thread, or are in one. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** How many turns began again in another thread because other projects waited for them. */
  get preemptedCount(): number {
    return this.#preemptedCount;
  }

  /** Whether a project should ask for no more: memory is bounded, and no project takes all of it. */
  isFullFor(projectId: string): boolean {
    const own = this.#waiting.get(projectId)?.length ?? 0;
    const { waitingMax, waitingOfProjectMax } = this.#options;
    return this.#waitingCount >= waitingMax || own >= waitingOfProjectMax;
  }

  /** Performs tasks of a project. An outcome is null of what was not come to in time, and of all where it is full. */
  perform(
    projectId: string,
    tasks: readonly Task[],
    msMax = Infinity,
  ): Promise<(Outcome | null)[]> {
    if (tasks.length === 0 || this.#isClosed || this.isFullFor(projectId))
      return Promise.resolve(tasks.map(() => null));
    return new Promise((resolve, reject) => {
      const batches = this.#waiting.get(projectId) ?? [];
      this.#waiting.set(projectId, batches);
      this.#waitingCount += 1;
      const done =
        <T>(work: (value: T) => void) =>
        (value: T) => {
          this.#waitingCount -= 1;
          work(value);
        };
      batches.push({
        projectId,
        tasks,
        outcomes: tasks.map(() => null),
        endsAt: performance.now() + msMax,
        finish: done(resolve),
        fail: done(reject),
      });
      this.#assign();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const batches of this.#waiting.values())
      for (const batch of batches) batch.finish(batch.outcomes);
    this.#waiting.clear();
    await this.#pool.close();
  }

  /** The first batch of a project for which there is still time. */
  #firstOf(projectId: string, batches: Batch[]): Batch | null {
    for (let batch = batches[0]; batch; batch = batches[0]) {
      if (performance.now() < batch.endsAt) return batch;
      batches.shift();
      batch.finish(batch.outcomes);
    }
    this.#waiting.delete(projectId);
    return null;
  }

  /** Gives each project its turn, as far as there are threads for it. */
  #assign(): void {
    if (this.#isClosed) return;
    for (const [projectId, batches] of this.#waiting) {
      if (this.#busy.has(projectId)) continue;
      const batch = this.#firstOf(projectId, batches);
      const thread = batch && this.#pool.take(this.#isSlow(projectId));
      if (!thread) continue;
      this.#busy.add(projectId);
      void this.#turn(thread, batch);
    }
  }

  /** Whether a project that is not slow waits for a thread. */
  #hasWaiter(): boolean {
    return [...this.#waiting.keys()].some((id) => !this.#busy.has(id) && !this.#isSlow(id));
  }

  #isSlow(projectId: string): boolean {
    return (this.#slowUntil.get(projectId) ?? 0) > performance.now();
  }

  /** Keeps in mind that a project is slow, and forgets those that no longer are. */
  #noteTurn(projectId: string, turned: Turned): void {
    const now = performance.now();
    for (const [known, until] of this.#slowUntil) {
      if (until > now) break;
      this.#slowUntil.delete(known);
    }
    if (turned.kind === 'broken' || (turned.kind === 'done' && turned.cpuMs < SLOW_TURN_MS)) return;
    this.#slowUntil.delete(projectId);
    this.#slowUntil.set(projectId, now + SLOW_FOR_MS);
  }

  async #turn(thread: ThreadHandle, batch: Batch): Promise<void> {
    const { projectId, tasks } = batch;
    const chosen = waitingIn(batch).slice(0, TURN_TASKS_MAX);
    const stopWatching = this.#watchTurn(thread, projectId);
    const turned = await thread.perform(chosen.flatMap((at) => tasks[at] ?? []));
    stopWatching();
    this.#noteTurn(projectId, turned);
    this.#take(batch, chosen, turned);
    this.#busy.delete(projectId);
    this.#pool.release(thread);
    // Behind everybody else who waits.
    const batches = this.#waiting.get(projectId);
    this.#waiting.delete(projectId);
    if (batches && batches.length > 0) this.#waiting.set(projectId, batches);
    this.#assign();
  }

  /** Preempts the turn of a project that turns out to be slow. Returns what ends the watch, with the turn. */
  #watchTurn(thread: ThreadHandle, projectId: string): () => void {
    const mayGoOn = () => this.#isSlow(projectId) || !this.#hasWaiter();
    let isOver = false;
    const check = async (): Promise<void> => {
      if (mayGoOn()) return;
      const isSlow = await thread.hasTaken(PREEMPT);
      // By then the thread may have the turn of another project.
      if (isSlow === true && !isOver && !mayGoOn()) thread.preempt();
    };
    const watching = setInterval(() => void check(), PREEMPT_CHECK_MS);
    return () => {
      isOver = true;
      clearInterval(watching);
    };
  }

  #take(batch: Batch, chosen: readonly number[], turned: Turned): void {
    const remove = () => {
      const batches = this.#waiting.get(batch.projectId) ?? [];
      const at = batches.indexOf(batch);
      if (at >= 0) batches.splice(at, 1);
    };
    if (turned.kind === 'preempted') {
      this.#preemptedCount += 1;
      return;
    }
    if (turned.kind === 'broken') {
      remove();
      batch.fail(turned.error);
      return;
    }
    const taken: [number, Outcome][] =
      turned.kind === 'done'
        ? turned.outcomes.map((outcome, at) => [at, outcome])
        : [[turned.at, turned.outcome]];
    for (const [at, outcome] of taken) batch.outcomes[chosen[at] ?? 0] = outcome;
    if (batch.outcomes.includes(null)) return;
    remove();
    batch.finish(batch.outcomes);
  }
}
