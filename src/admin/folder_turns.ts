import type { ServerResponse } from 'node:http';
import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';
import { FOLDERS_MAX, FOLDERS_PER_PERSON_MAX } from './folder_limits.ts';
import { hasLeft } from './streams.ts';

const RETRY_SECONDS = 5;

const left = (): Refusal =>
  new Refusal('request_timeout', { detail: 'Whoever asked has left. Nothing was changed.' });

/** Ends what nobody waits for any more. */
export const refuseGone = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw left();
};

/** The folders that this process has in its hands: a few of everybody, and one of a project at work. */
export class FolderTurns {
  readonly #taken = new Map<ServerResponse, string>();
  readonly #last = new Map<string, Promise<unknown>>();

  get takenCount(): number {
    return this.#taken.size;
  }

  /** One more of somebody, before it is read; it counts until its answer is closed. */
  take(personId: string, answer: ServerResponse): void {
    if (hasLeft(answer)) throw left();
    const own = [...this.#taken.values()].filter((one) => one === personId);
    if (own.length >= FOLDERS_PER_PERSON_MAX || this.#taken.size >= FOLDERS_MAX)
      throw new Refusal('overloaded', {
        detail:
          'As many folders are worked on as may be at once. Nothing was read: ask again soon.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    this.#taken.set(answer, personId);
    answer.once('close', () => this.#taken.delete(answer));
  }

  /** Works on a project's folder once nobody else does in this process; not at all, where the asker has left. */
  async inTurn<T>(
    { projectId, signal }: { projectId: string; signal: AbortSignal | undefined },
    work: () => Promise<T>,
  ): Promise<T> {
    const before = this.#last.get(projectId) ?? Promise.resolve();
    const mine = before.then(async () => {
      refuseGone(signal);
      return work();
    });
    const settled = mine.catch(() => {});
    this.#last.set(projectId, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(projectId) === settled) this.#last.delete(projectId);
    }
  }
}

const makeTurns = (deps: Pick<Deps, 'resources'>): FolderTurns => {
  const turns = new FolderTurns();
  watchQueue(deps, 'folders', { size: () => turns.takenCount, max: FOLDERS_MAX });
  return turns;
};

export const folderTurnsOf = (deps: Pick<Deps, 'resources'>): FolderTurns =>
  deps.resources.of(makeTurns, deps);
