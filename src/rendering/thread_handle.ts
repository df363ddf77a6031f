import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { stopped } from './tasks.ts';
import type { Outcome, Task } from './tasks.ts';

/** What one thread may take. */
export type Bounds = {
  /** One task; and a turn, which ends with the task that is begun. */
  taskMsMax: number;
  turnMs: number;
  memoryMbMax: number;
};

/** What a thread gets when it starts. The arrays are shared. */
export type ThreadData = {
  /** How many tasks of its turn it has begun. */
  progress: Int32Array;
  /** Milliseconds of processor time that the thread had used before the first task of its turn. */
  cpuAtStart: Float64Array;
  turnMs: number;
  turnChars: number;
};

/** More than so many characters of mail are not sent back at once. */
const TURN_CHARS = 1024 * 1024;
const YOUNG_MB = 16;
const STACK_MB = 4;
const TICK_MS = 50;
const MICROSECONDS_PER_MS = 1_000;
/** Until its code is loaded; a machine that is busy takes its time. */
const START_MS_MAX = 60_000;

/** What a thread sends back: the outcomes of its turn, and the processor time that they took. */
export type TurnResult = { outcomes: Outcome[]; cpuMs: number };

/**
 * The result of a turn: the outcomes of its first tasks, or the task at which the pool stopped the thread, and why.
 * A preempted turn starts again in another thread.
 */
export type Turned =
  | ({ kind: 'done' } & TurnResult)
  | { kind: 'stopped'; at: number; outcome: Outcome }
  | { kind: 'preempted' }
  | { kind: 'broken'; error: Error };

/**
 * Nothing of the process's settings and secrets is to be had there. Only where Node keeps what it compiled, if it does:
 * there a thread begins in half the time.
 */
const bareEnv = (): Record<string, string> => {
  // Of this version of Node; the setting is the folder around it.
  const compiled = getCompileCacheDir();
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
};

const isOutOfMemory = (error: Error & { code?: string }): boolean =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** A thread with one turn at a time. It is watched by ticks, so a process that was asleep blames no template. */
export class ThreadHandle {
  readonly #worker: Worker;
  readonly #bounds: Bounds;
  readonly #progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #cpuAtStart = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  #finish: ((turned: Turned) => void) | null = null;
  #isDead = false;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    const data: ThreadData = {
      progress: this.#progress,
      cpuAtStart: this.#cpuAtStart,
      turnMs: bounds.turnMs,
      turnChars: TURN_CHARS,
    };
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: data,
      resourceLimits: {
        maxOldGenerationSizeMb: bounds.memoryMbMax,
        maxYoungGenerationSizeMb: YOUNG_MB,
        stackSizeMb: STACK_MB,
      },
      env: bareEnv(),
      stdin: false,
    });
    this.#worker.unref();
    this.#worker.on('message', (result: TurnResult) => this.#end({ kind: 'done', ...result }));
    this.#worker.on('error', (error: Error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(new Error('a rendering thread ended')));
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Performs a turn's first tasks. The process does not end before it has. */
  async perform(tasks: readonly Task[]): Promise<Turned> {
    Atomics.store(this.#progress, 0, 0);
    this.#worker.ref();
    const watching = setInterval(() => this.#watch(), TICK_MS);
    this.#ticks = 0;
    this.#seen = 0;
    this.#turnTicks = 0;
    try {
      return await new Promise<Turned>((resolve) => {
        this.#finish = resolve;
        if (this.#isDead) this.#end({ kind: 'broken', error: new Error('the thread is gone') });
        else this.#worker.postMessage(tasks);
      });
    } finally {
      clearInterval(watching);
      this.#worker.unref();
    }
  }

  /**
   * Whether the tasks of this turn have taken so long, and so much processor time: a thread that waits for a processor
   * is not slow. Asked while the turn lasts; null when the thread has ended.
   */
  async hasTaken({ turnMs, cpuMs }: { turnMs: number; cpuMs: number }): Promise<boolean | null> {
    if (this.#turnTicks * TICK_MS < turnMs) return false;
    try {
      const { user, system } = await this.#worker.cpuUsage();
      return (user + system) / MICROSECONDS_PER_MS - (this.#cpuAtStart[0] ?? 0) >= cpuMs;
    } catch {
      return null;
    }
  }

  /** Stops the thread without blame for the tasks that it has: they begin again in another one. */
  preempt(): void {
    this.#end({ kind: 'preempted' });
    void this.stop();
  }

  async stop(): Promise<void> {
    this.#isDead = true;
    await this.#worker.terminate();
  }

  #ticks = 0;
  #seen = 0;
  /** Ticks since the first task of the turn was begun: the start of a thread is no project's doing. */
  #turnTicks = 0;

  /** Counts ticks since a task was begun, not time: a process that was frozen or starved has not ticked either. */
  #watch(): void {
    const begun = Atomics.load(this.#progress, 0);
    if (begun > 0) this.#turnTicks += 1;
    this.#ticks = begun === this.#seen ? this.#ticks + 1 : 0;
    this.#seen = begun;
    const { taskMsMax } = this.#bounds;
    if (this.#ticks * TICK_MS < (begun === 0 ? START_MS_MAX : taskMsMax)) return;
    void this.stop();
    this.#stopAt(begun, `it took longer than ${taskMsMax} milliseconds. Please make it do less.`);
  }

  #stopAt(begun: number, reason: string): void {
    if (begun === 0) return this.#end({ kind: 'broken', error: new Error(reason) });
    return this.#end({ kind: 'stopped', at: begun - 1, outcome: stopped(reason) });
  }

  /** By a task it was given, as far as anybody can tell, where it was at one. */
  #die(error: Error): void {
    this.#isDead = true;
    const begun = Atomics.load(this.#progress, 0);
    if (begun === 0) return this.#end({ kind: 'broken', error });
    const mb = this.#bounds.memoryMbMax;
    return this.#stopAt(
      begun,
      isOutOfMemory(error)
        ? `it took more than ${mb} MiB of memory. Please make it do less.`
        : 'it broke what renders it. Please make it simpler.',
    );
  }

  #end(turned: Turned): void {
    const finish = this.#finish;
    this.#finish = null;
    finish?.(turned);
  }
}
