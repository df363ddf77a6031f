import type { Bounds, Turned } from './thread_handle.ts';
import { ThreadHandle } from './thread_handle.ts';
import type { Outcome, Task } from './tasks.ts';

export type ThreadsOptions = Bounds & { threadsMax: number; waitingMax: number };

/** So many tasks are copied into a thread for one turn at most. */
const TURN_TASKS_MAX = 50;
/** A thread that nobody has needed for so long is given up, with its memory. */
const IDLE_MS = 60_000;

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
 * A few threads for what other people wrote. A project has one of them at a time, for a turn; then others
 * have theirs. So nobody waits for a project longer than its turn and the task that it began.
 */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #idle: ThreadHandle[] = [];
  readonly #busy = new Map<string, ThreadHandle>();
  /** By project, in the order of their turns. */
  readonly #waiting = new Map<string, Batch[]>();
  #waitingCount = 0;
  #resting: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  /** How many batches wait for a thread, or are in one. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** Whether no more should be asked: memory is bounded. */
  get isFull(): boolean {
    return this.#waitingCount >= this.#options.waitingMax;
  }

  /** Performs tasks of a project. An outcome is null of what was not come to in time, and of all where it is full. */
  perform(
    projectId: string,
    tasks: readonly Task[],
    msMax = Infinity,
  ): Promise<(Outcome | null)[]> {
    if (tasks.length === 0 || this.#isClosed || this.isFull)
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
    if (this.#resting) clearTimeout(this.#resting);
    for (const batches of this.#waiting.values())
      for (const batch of batches) batch.finish(batch.outcomes);
    this.#waiting.clear();
    await Promise.all([...this.#idle, ...this.#busy.values()].map((thread) => thread.stop()));
  }

  /** The next batch of a project that has no thread. */
  #next(): Batch | null {
    for (const [projectId, batches] of this.#waiting) {
      if (this.#busy.has(projectId)) continue;
      for (let batch = batches[0]; batch; batch = batches[0]) {
        if (performance.now() < batch.endsAt) return batch;
        batches.shift();
        batch.finish(batch.outcomes);
      }
      this.#waiting.delete(projectId);
    }
    return null;
  }

  #findThread(): ThreadHandle | null {
    const idle = this.#idle.pop();
    if (idle) return idle;
    return this.#busy.size < this.#options.threadsMax ? new ThreadHandle(this.#options) : null;
  }

  #assign(): void {
    if (this.#isClosed) return;
    for (let batch = this.#next(); batch; batch = this.#next()) {
      const thread = this.#findThread();
      if (!thread) return;
      this.#busy.set(batch.projectId, thread);
      void this.#turn(thread, batch);
    }
    this.#rest();
  }

  async #turn(thread: ThreadHandle, batch: Batch): Promise<void> {
    const { projectId, tasks } = batch;
    const chosen = waitingIn(batch).slice(0, TURN_TASKS_MAX);
    const turned = await thread.perform(chosen.flatMap((at) => tasks[at] ?? []));
    this.#take(batch, chosen, turned);
    this.#busy.delete(projectId);
    if (!thread.isDead) this.#idle.push(thread);
    // Behind everybody else who waits.
    const batches = this.#waiting.get(projectId);
    this.#waiting.delete(projectId);
    if (batches && batches.length > 0) this.#waiting.set(projectId, batches);
    this.#assign();
  }

  #take(batch: Batch, chosen: readonly number[], turned: Turned): void {
    const remove = () => {
      const batches = this.#waiting.get(batch.projectId) ?? [];
      const at = batches.indexOf(batch);
      if (at >= 0) batches.splice(at, 1);
    };
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

  #rest(): void {
    if (this.#resting) clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      for (const thread of this.#idle.splice(0)) void thread.stop();
    }, IDLE_MS).unref();
  }
}
