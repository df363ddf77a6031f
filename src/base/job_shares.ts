import type { Deps } from './deps.ts';
import { hint } from './hints.ts';
import type { Hint } from './hints.ts';

/** How much of a worker's jobs one project may have at a time: jobs of other projects then find a place at once. */
export const PROJECT_JOBS_PART = 0.4;
/** How much of that one kind of job may have: then events of a project do not wait for its runs. */
export const KIND_PART = 0.5;
/** How much of a worker's jobs may be in the background, of all projects: the rest is for what people wait for. */
export const BACKGROUND_JOBS_PART = 0.4;

/** A job that takes part in the shares. One in the background can wait, such as the work of segments. */
export type SharedJob = Hint & { projectId: string; isBackground: boolean };

const partOf = (jobs: number, part: number): number => Math.max(1, Math.floor(jobs * part));

const kindOf = ({ projectId, task }: Pick<SharedJob, 'projectId' | 'task'>): string =>
  `${projectId} ${task}`;

/** A job that was left, by its key. */
type Left = [string, SharedJob];

/** A part of a worker's jobs, and how many of it may run at a time. */
type Part = { name: string; jobsMax: number };

/**
 * Gives each project, each kind of job in it, and all work in the background a share of the jobs that a worker runs
 * at a time. A job past a share ends at once. The process hints at it again when there is room: first at the project
 * with the fewest running jobs, in it at the kind with the fewest, and at the oldest of that. So many jobs of one kind
 * do not hold up another. The sweeper finds what a process leaves when it dies: jobs look at rows.
 */
export class JobShares {
  readonly #deps: Pick<Deps, 'db' | 'log'>;
  readonly #projectMax: number;
  readonly #kindMax: number;
  readonly #backgroundMax: number;
  readonly #running = new Map<string, number>();
  readonly #left = new Map<string, SharedJob>();

  constructor({ db, log, config }: Pick<Deps, 'db' | 'log' | 'config'>) {
    this.#deps = { db, log };
    this.#projectMax = partOf(config.workerConcurrency, PROJECT_JOBS_PART);
    this.#kindMax = partOf(this.#projectMax, KIND_PART);
    this.#backgroundMax = partOf(config.workerConcurrency, BACKGROUND_JOBS_PART);
  }

  /** Runs a job, or leaves it. */
  async run(shared: SharedJob, job: () => Promise<void>): Promise<void> {
    if (!this.#hasRoom(shared)) {
      this.#left.set(`${shared.task} ${JSON.stringify(shared.payload)}`, shared);
      return;
    }
    this.#count(shared, 1);
    try {
      await job();
    } finally {
      this.#count(shared, -1);
      await this.#giveNext();
    }
  }

  /** Hints at what was left: another process then finds it before the sweeper does. */
  async close(): Promise<void> {
    const left = [...this.#left.values()];
    this.#left.clear();
    for (const one of left) await this.#hintAt(one);
  }

  /** Returns the parts that a job counts for. */
  #partsOf({ projectId, task, isBackground }: SharedJob): Part[] {
    const background = { name: 'background', jobsMax: this.#backgroundMax };
    return [
      { name: projectId, jobsMax: this.#projectMax },
      { name: kindOf({ projectId, task }), jobsMax: this.#kindMax },
      ...(isBackground ? [background] : []),
    ];
  }

  #hasRoom(shared: SharedJob): boolean {
    return this.#partsOf(shared).every(
      ({ name, jobsMax }) => (this.#running.get(name) ?? 0) < jobsMax,
    );
  }

  #count(shared: SharedJob, by: 1 | -1): void {
    for (const { name } of this.#partsOf(shared)) {
      const count = (this.#running.get(name) ?? 0) + by;
      if (count === 0) this.#running.delete(name);
      else this.#running.set(name, count);
    }
  }

  async #giveNext(): Promise<void> {
    const withRoom = [...this.#left].filter(([, left]) => this.#hasRoom(left));
    const ofProject = this.#leastRunning(withRoom, ({ projectId }) => projectId);
    const [next] = this.#leastRunning(ofProject, kindOf);
    if (!next) return;
    this.#left.delete(next[0]);
    await this.#hintAt(next[1]);
  }

  /** Returns those jobs of which the fewest run in the same part, the oldest first. */
  #leastRunning(left: readonly Left[], nameOf: (shared: SharedJob) => string): Left[] {
    const countOf = ([, shared]: Left) => this.#running.get(nameOf(shared)) ?? 0;
    const least = Math.min(...left.map(countOf));
    return left.filter((one) => countOf(one) === least);
  }

  #hintAt({ task, payload }: SharedJob): Promise<void> {
    return hint(this.#deps, { task, payload });
  }
}

export const makeJobShares = (deps: Pick<Deps, 'db' | 'log' | 'config'>): JobShares =>
  new JobShares(deps);
