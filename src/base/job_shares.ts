import type { Deps } from './deps.ts';
import { hint } from './hints.ts';
import type { Hint } from './hints.ts';

/** How much of a worker's jobs one project may have at a time: jobs of other projects then find a place at once. */
export const PROJECT_JOBS_PART = 0.4;

type Share = { running: number; left: Map<string, Hint> };

/**
 * Gives each project a share of the jobs that a worker runs at a time. A job past it ends at once, and is hinted at
 * again when one of the project ends. The sweeper finds what a process leaves when it dies: jobs look at rows.
 */
export class JobShares {
  readonly #deps: Pick<Deps, 'db' | 'log'>;
  readonly #jobsMax: number;
  readonly #shares = new Map<string, Share>();

  constructor({ db, log, config }: Pick<Deps, 'db' | 'log' | 'config'>) {
    this.#deps = { db, log };
    this.#jobsMax = Math.max(1, Math.floor(config.workerConcurrency * PROJECT_JOBS_PART));
  }

  /** Runs a job of a project, or leaves it. */
  async run(projectId: string, own: Hint, job: () => Promise<void>): Promise<void> {
    const share = this.#shares.get(projectId) ?? { running: 0, left: new Map() };
    if (share.running >= this.#jobsMax) {
      share.left.set(`${own.task} ${JSON.stringify(own.payload)}`, own);
      return;
    }
    this.#shares.set(projectId, share);
    share.running += 1;
    try {
      await job();
    } finally {
      share.running -= 1;
      await this.#giveNext(projectId, share);
    }
  }

  /** Hints at what was left: another process then finds it before the sweeper does. */
  async close(): Promise<void> {
    for (const { left } of this.#shares.values())
      for (const one of left.values()) await hint(this.#deps, one);
    this.#shares.clear();
  }

  async #giveNext(projectId: string, share: Share): Promise<void> {
    const [next] = share.left;
    if (share.running === 0 && !next) this.#shares.delete(projectId);
    if (!next) return;
    const [key, left] = next;
    share.left.delete(key);
    await hint(this.#deps, left);
  }
}

export const makeJobShares = (deps: Pick<Deps, 'db' | 'log' | 'config'>): JobShares =>
  new JobShares(deps);
