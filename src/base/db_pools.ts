import type { Db } from './db.ts';
import type { Deps } from './deps.ts';

/** Pools of this process besides the one in its `Deps`. */
class FurtherPools {
  readonly all = new Set<Db>();
}

const makeFurtherPools = (): FurtherPools => new FurtherPools();

/** Adds a further pool to the metrics of this process. */
export const watchPool = ({ resources }: Pick<Deps, 'resources'>, db: Db): void => {
  resources.of(makeFurtherPools, undefined).all.add(db);
};

export type PoolCounts = { acquired: number; idle: number; waiting: number };

/** Counts the connections of all pools of this process, and the callers that wait for one. */
export const countConnections = ({ db, resources }: Pick<Deps, 'db' | 'resources'>): PoolCounts => {
  const counts = { acquired: 0, idle: 0, waiting: 0 };
  for (const pool of [db, ...resources.of(makeFurtherPools, undefined).all]) {
    const { acquiredConnections, idleConnections, waitingClients } = pool.state();
    counts.acquired += acquiredConnections;
    counts.idle += idleConnections;
    counts.waiting += waitingClients;
  }
  return counts;
};
