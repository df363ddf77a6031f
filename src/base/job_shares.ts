import type { Deps } from './deps.ts';
import { hint } from './hints.ts';
import type { Hint } from './hints.ts';

/** How much of a worker's jobs one project may have at a time: jobs of other projects then find a place at once. */
export const PROJECT_JOBS_PART = 0.4;

/** How much of that one kind of job may have: then events of a project do not wait for its runs. */
export const KIND_PART = 0.5;

type Share = { running: string[]; left: Map<string, Hint> };

const partOf = (jobs: number, part: number): number => Math.max(1, Math.floor(jobs * part));

/**
 * Gives each project a share of the jobs that a worker runs at a time. A job past it ends at once, and is hinted at
 * again when one of the project ends. The sweeper finds what a process leaves when it dies: jobs look at rows.
 */
export class JobShares {
  readonly #deps: Pick<Deps, 'db' | 'log'>;
  readonly #jobsMax: number;
  readonly #ofKindMax: number;
  readonly #shares = new Map<string, Share>();

  constructor({ db, log, config }: Pick<Deps, 'db' | 'log' | 'config'>) {
    this.#deps = { db, log };
    this.#jobsMax = partOf(config.workerConcurrency, PROJECT_JOBS_PART);
    this.#ofKindMax = partOf(this.#jobsMax, KIND_PART);
  }

  /** Runs a job of a project, or leaves it. */
  async run(projectId: string, own: Hint, job: () => Promise<void>): Promise<void> {
    const share: Share = this.#shares.get(projectId) ?? { running: [], left: new Map() };
    if (!this.#hasRoom(share, own.task)) {
      share.left.set(`${own.task} ${JSON.stringify(own.payload)}`, own);
      return;
    }
    this.#shares.set(projectId, share);
    share.running.push(own.task);
    try {
      await job();
    } finally {
      share.running.splice(share.running.indexOf(own.task), 1);
      await this.#giveNext(projectId, share);
    }
  }

  #hasRoom({ running }: Share, task: string): boolean {
    const ofKind = running.filter((one) => one === task).length;
    return running.length < this.#jobsMax && ofKind < this.#ofKindMax;
  }

  /** Hints at what was left: another process then finds it before the sweeper does. */
  async close(): Promise<void> {
    for (const { left } of this.#shares.values())
      for (const one of left.values()) await hint(this.#deps, one);
    this.#shares.clear();
  }

  async #giveNext(projectId: string, share: Share): Promise<void> {
    const next = [...share.left].find(([, { task }]) => this.#hasRoom(share, task));
    if (share.running.length === 0 && !next) this.#shares.delete(projectId);
    if (!next) return;
    const [key, left] = next;
    share.left.delete(key);
    await hint(this.#deps, left);
  }
}

export const makeJobShares = (deps: Pick<Deps, 'db' | 'log' | 'config'>): JobShares =>
  new JobShares(deps);
