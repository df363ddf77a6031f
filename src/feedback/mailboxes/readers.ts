import type { Deps } from '../../base/deps.ts';
import { watchQueue } from '../../base/memory_queues.ts';
import { readMailbox } from '../../providers/providers.ts';
import type { Turn, WhichMailbox } from '../../providers/providers.ts';
import { takeEmail } from './take_email.ts';

/** How many mailboxes one process reads at a time, of one project at most so many, and how many wait for their turn. */
export const READERS_MAX = 8;
export const PROJECT_READERS_MAX = 2;
export const WAITING_MAX = 1_000;

const keyOf = ({ projectId, providerId }: WhichMailbox): string => `${projectId} ${providerId}`;

/**
 * The mailboxes that this process reads. They outlive the job that asks for them: a server that does not answer holds
 * one of these places until its time is over, and no job. Nothing is only here: a mailbox that is dropped stays due.
 */
export class MailboxReaders {
  readonly #deps: Deps;
  readonly #read: (which: WhichMailbox) => Promise<Turn>;
  readonly #running = new Map<string, { projectId: string; done: Promise<void> }>();
  #waiting: WhichMailbox[] = [];
  readonly #closing = new AbortController();

  constructor(deps: Deps, read?: (which: WhichMailbox) => Promise<Turn>) {
    this.#deps = deps;
    this.#read =
      read ??
      ((which) => {
        const take = (raw: Buffer) => takeEmail(deps, which, raw);
        return readMailbox(deps, which, { take, signal: this.#closing.signal });
      });
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Reads mailboxes, each for one turn: those that waited before first. */
  feed(due: readonly WhichMailbox[]): void {
    const known = new Set([...this.#running.keys(), ...this.#waiting.map(keyOf)]);
    const fresh = due.filter((which) => !known.has(keyOf(which)));
    this.#waiting = [...this.#waiting, ...fresh].slice(0, WAITING_MAX);
    this.#next();
  }

  /** Resolves once nothing is read any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0)
      await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Begins nothing more, and ends the turns that run: how far each came is written. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting = [];
    await this.idle();
  }

  #next(): void {
    while (!this.#closing.signal.aborted && this.#running.size < READERS_MAX) {
      const which = this.#waiting.find(({ projectId }) => this.#hasPlace(projectId));
      if (!which) return;
      this.#waiting = this.#waiting.filter((one) => one !== which);
      const done = this.#run(which).finally(() => {
        this.#running.delete(keyOf(which));
        this.#next();
      });
      this.#running.set(keyOf(which), { projectId: which.projectId, done });
    }
  }

  #hasPlace(projectId: string): boolean {
    const running = [...this.#running.values()].filter((one) => one.projectId === projectId);
    return running.length < PROJECT_READERS_MAX;
  }

  async #run(which: WhichMailbox): Promise<void> {
    const { projectId: project_id, providerId: provider_id } = which;
    try {
      const turn = await this.#read(which);
      if (turn?.result.kind === 'failed')
        this.#deps.log.warn(
          { project_id, provider_id, reason: turn.result.failure },
          'a bounce mailbox failed',
        );
      else if (turn && turn.readCount > 0)
        this.#deps.log.info(
          { project_id, provider_id, read: turn.readCount, used: turn.usedCount },
          'a bounce mailbox was read',
        );
    } catch (err) {
      this.#deps.log.error(
        { project_id, provider_id, err },
        'a bounce mailbox could not be read; it is due again',
      );
    }
  }
}

export const makeReaders = (deps: Deps): MailboxReaders => {
  const readers = new MailboxReaders(deps);
  watchQueue(deps, 'bounce_mailboxes', { size: () => readers.waitingCount, max: WAITING_MAX });
  return readers;
};
