import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { callNext } from './call.ts';
import { CALLS_MAX, ENDPOINT_CALLS_MAX, LANES_MAX, PROJECT_CALLS_MAX } from './call_limits.ts';
import type { Vault } from './endpoints.ts';
import type { Open } from './post_webhook.ts';

type Waiting = { projectId: string; go: () => void };

/**
 * Places for calls. Whoever waits longest of the project with the fewest calls under way comes next: who calls
 * endpoints that hang holds back nobody else for longer than one call takes.
 */
export class Places {
  readonly #placesMax: number;
  readonly #busy = new Map<string, number>();
  #waiting: Waiting[] = [];
  #taken = 0;

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  async take(projectId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ projectId, go: resolve });
    this.#next();
    await promise;
  }

  giveBack(projectId: string): void {
    const left = this.#busyOf(projectId) - 1;
    if (left === 0) this.#busy.delete(projectId);
    else this.#busy.set(projectId, left);
    this.#taken -= 1;
    this.#next();
  }

  #busyOf(projectId: string): number {
    return this.#busy.get(projectId) ?? 0;
  }

  #next(): void {
    while (this.#taken < this.#placesMax && this.#waiting.length > 0) {
      const least = this.#waiting.reduce((first, one) =>
        this.#busyOf(one.projectId) < this.#busyOf(first.projectId) ? one : first,
      );
      this.#waiting = this.#waiting.filter((one) => one !== least);
      this.#busy.set(least.projectId, this.#busyOf(least.projectId) + 1);
      this.#taken += 1;
      least.go();
    }
  }
}

type Needs = { deps: Deps; vault: Vault };
type Endpoint = { projectId: string; endpointId: string };

/** Makes the next call of an endpoint, if there is one. Returns whether there was. */
export type CallNext = typeof callNext;
/** What the lanes do, and how many there may be. */
type Work = { next: CallNext; lanesMax: number };

/** How many endpoints of a project are remembered that find no lane free. */
const TURNED_AWAY_MAX = 100;

/** What is under way for one project: how many lanes for each endpoint, and who is to have the next. */
type Lanes = { of: Map<string, number>; turnedAway: Set<string> };

const countLanes = ({ of }: Lanes): number =>
  [...of.values()].reduce((sum, lanes) => sum + lanes, 0);

/** What is known of the call that a lane makes just now. */
type Under = { traceId?: string | undefined };

/**
 * The calls that this process makes. They outlive the jobs that ask for them: whoever hangs holds neither a job nor
 * a connection to the database. Nothing is only here: what is forgotten is asked for again when its run looks.
 */
export class Callers {
  readonly #needs: Needs;
  readonly #places = new Places(CALLS_MAX);
  readonly #lanes = new Map<string, Lanes>();
  readonly #open: Open = new Set();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  readonly #work: Work;

  constructor(needs: Needs, work: Partial<Work> = {}) {
    this.#needs = needs;
    this.#work = { next: callNext, lanesMax: LANES_MAX, ...work };
  }

  /** How many calls are under way, or wait for their place. */
  get laneCount(): number {
    return this.#running.size;
  }

  /** Sees to the calls of an endpoint, as far as it does not already. */
  feed(endpoint: Endpoint): void {
    const { endpointId, projectId } = endpoint;
    const lanes = this.#lanes.get(projectId) ?? { of: new Map(), turnedAway: new Set() };
    const own = lanes.of.get(endpointId) ?? 0;
    if (this.#isClosed || own >= ENDPOINT_CALLS_MAX || this.laneCount >= this.#work.lanesMax)
      return;
    if (countLanes(lanes) >= PROJECT_CALLS_MAX) {
      if (own === 0 && lanes.turnedAway.size < TURNED_AWAY_MAX) lanes.turnedAway.add(endpointId);
      return;
    }
    this.#lanes.set(projectId, lanes);
    lanes.of.set(endpointId, own + 1);
    const call: Under = {};
    const running = this.#run(endpoint, call)
      .catch((err: unknown) =>
        this.#needs.deps.log.warn(
          { err, project_id: projectId, endpoint_id: endpointId, trace_id: call.traceId },
          'a call failed on our side; its run asks for it again',
        ),
      )
      .finally(() => {
        this.#running.delete(running);
        this.#leave(endpoint, lanes);
      });
    this.#running.add(running);
  }

  /** Ends what is under way: it was not answered, and is made again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
    await Promise.all(this.#running);
  }

  #leave({ projectId, endpointId }: Endpoint, lanes: Lanes): void {
    const left = (lanes.of.get(endpointId) ?? 1) - 1;
    if (left === 0) lanes.of.delete(endpointId);
    else lanes.of.set(endpointId, left);
    const [next] = lanes.turnedAway;
    if (next !== undefined) {
      lanes.turnedAway.delete(next);
      this.feed({ projectId, endpointId: next });
    }
    if (lanes.of.size === 0) this.#lanes.delete(projectId);
  }

  /**
   * One call after the other, as long as there are any; with each there may be another beside it. Who else was turned
   * away comes first.
   */
  async #run(endpoint: Endpoint, call: Under): Promise<void> {
    const { deps, vault } = this.#needs;
    const { projectId } = endpoint;
    const onTaken = (traceId: string | undefined) => {
      call.traceId = traceId;
      this.feed(endpoint);
    };
    for (let isMore = true; isMore && !this.#isClosed;) {
      call.traceId = undefined;
      await this.#places.take(projectId);
      try {
        if (this.#isClosed) return;
        isMore = await this.#work.next(deps, vault, { ...endpoint, open: this.#open, onTaken });
      } finally {
        this.#places.giveBack(projectId);
      }
      if ((this.#lanes.get(projectId)?.turnedAway.size ?? 0) > 0) return;
    }
  }
}

export const makeCallers = (needs: Needs): Callers => {
  const callers = new Callers(needs);
  watchQueue(needs.deps, 'webhook_calls', { size: () => callers.laneCount, max: LANES_MAX });
  return callers;
};
