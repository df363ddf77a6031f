import type { Deps } from './deps.ts';

/** What waits in this process, or is under way: how much there is just now, and how much there may be. */
export type MemoryQueue = { size: () => number; max: number };

/** The queues of this process, by name. What becomes of what finds no place is for each of them to say. */
class MemoryQueues {
  readonly all = new Map<string, MemoryQueue>();
}

const makeMemoryQueues = (): MemoryQueues => new MemoryQueues();

type Where = Pick<Deps, 'resources'>;

/** Has a queue measured from now on, in place of an earlier one of its name. */
export const watchQueue = ({ resources }: Where, name: string, queue: MemoryQueue): void => {
  resources.of(makeMemoryQueues, undefined).all.set(name, queue);
};

export const listQueues = ({ resources }: Where): ReadonlyMap<string, MemoryQueue> =>
  resources.of(makeMemoryQueues, undefined).all;
