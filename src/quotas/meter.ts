import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';
import { outOfTurn } from '../base/session_turns.ts';
import * as identity from '../identity/identity.ts';
import { KeyUse } from './key_use.ts';
import type { Identifier } from './key_use.ts';
import { countUse, readUse, readWaiting } from './queries.ts';
import { COUNT_EVERY_MS } from './schema.ts';

/** A key that has not been used for so long is forgotten. */
const IDLE_MS = 10 * 60_000;
/** Where a quota is used up, a key is read again at most this often, unless new people were let in meanwhile. */
const READ_AGAIN_MS = 1_000;
/** How many identifiers one such reading looks up. */
const LOOK_UP_MAX = 10_000;
/** How many identifiers of all keys are remembered until a worker has processed them. */
export const RECENT_MAX = 200_000;
const RETRY_AFTER_SECONDS = 5;

type QuotaDeps = Pick<Deps, 'db' | 'keys' | 'log' | 'resources' | 'turns'>;

const findUnknown = async (scope: Scope, identifiers: readonly Identifier[]) => {
  const known = await identity.listByValues(scope, identifiers);
  const names = new Set(known.map(({ kind, value }) => `${kind} ${value}`));
  return identifiers.filter(({ kind, value }) => !names.has(`${kind} ${value}`));
};

/**
 * The use of publishable keys, in this process. Requests are checked against memory; every COUNT_EVERY_MS the process
 * writes the bytes that it stored, and reads what all processes counted.
 */
class Meter {
  readonly #deps: QuotaDeps;
  readonly #keys = new Map<string, KeyUse>();
  readonly #loading = new Map<string, Promise<void>>();
  /** The database's time at the end of the last cycle, by project. */
  readonly #rotatedAt = new Map<string, Date>();
  readonly #timer: NodeJS.Timeout;
  #cycle: Promise<void> = Promise.resolve();

  constructor(deps: QuotaDeps) {
    this.#deps = outOfTurn(deps);
    this.#timer = setInterval(() => {
      this.#cycle = this.#cycle.then(() => this.#runCycle());
    }, COUNT_EVERY_MS);
    this.#timer.unref();
  }

  get recentCount(): number {
    let count = 0;
    for (const use of this.#keys.values()) count += use.recentCount;
    return count;
  }

  /** Returns the use of a key, read from the database the first time and after midnight. */
  async useOf(deps: QuotaDeps, projectId: string, keyId: string): Promise<KeyUse> {
    const use = this.#keys.get(keyId) ?? new KeyUse(projectId, keyId);
    this.#keys.set(keyId, use);
    use.lastUsedAt = Date.now();
    if (use.isOver()) await this.#once(keyId, () => this.#read(deps, use));
    return use;
  }

  /** Refuses a request that would make more people than the quota of its key allows. */
  async admitPeople(deps: QuotaDeps, use: KeyUse, named: readonly Identifier[]): Promise<void> {
    if (!use.hasProfilesQuota) return;
    const fresh = use.listFresh(named);
    if (fresh.length === 0) return;
    if (this.recentCount + fresh.length > RECENT_MAX)
      throw new Refusal('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (use.hasRoomFor(fresh.length)) return use.remember(fresh);
    const unknown = await inProject(deps, use.projectId, (scope) => findUnknown(scope, fresh));
    if (unknown.length === 0) return;
    if (use.hasNews || Date.now() - use.readAt >= READ_AGAIN_MS)
      await this.#once(use.keyId, () => this.#readAgain(deps, use));
    if (!use.hasRoomFor(unknown.length)) throw use.exceededProfiles();
    use.remember(unknown);
  }

  /** Has the keys of a project read again before their next request, after its quotas were changed. */
  forgetProject(projectId: string): Promise<void> {
    return this.#count(projectId, this.#ofProject(projectId));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#cycle;
    await this.#runCycle();
  }

  #ofProject(projectId: string): KeyUse[] {
    return [...this.#keys.values()].filter((use) => use.projectId === projectId);
  }

  /** Requests that need the same reading share it. */
  #once(keyId: string, read: () => Promise<void>): Promise<void> {
    const running = this.#loading.get(keyId) ?? read().finally(() => this.#loading.delete(keyId));
    this.#loading.set(keyId, running);
    return running;
  }

  #read(deps: QuotaDeps, use: KeyUse): Promise<void> {
    return inProject(deps, use.projectId, async (scope) => {
      for (const row of await readUse(scope, [use.keyId])) use.update(row);
    });
  }

  /** Reads the use of a key, and in the same snapshot which of its recent identifiers belong to somebody by now. */
  #readAgain(deps: QuotaDeps, use: KeyUse): Promise<void> {
    return inProject(deps, use.projectId, async (scope) => {
      const recent = use.listRecent(LOOK_UP_MAX);
      const known = await identity.listByValues(scope, recent);
      for (const row of await readUse(scope, [use.keyId])) use.update(row);
      use.forget(known);
    });
  }

  async #runCycle(): Promise<void> {
    const byProject = Map.groupBy(this.#keys.values(), ({ projectId }) => projectId);
    for (const [projectId, uses] of byProject)
      await this.#count(projectId, uses).catch((error: unknown) =>
        this.#deps.log.warn(
          { err: error, project_id: projectId },
          'key use not counted; tried again',
        ),
      );
    const idleSince = Date.now() - IDLE_MS;
    for (const [keyId, use] of this.#keys) if (use.lastUsedAt < idleSince) this.#keys.delete(keyId);
  }

  /** Writes what this process stored for a project, and reads what all did. */
  async #count(projectId: string, uses: readonly KeyUse[]): Promise<void> {
    const taken = uses.map((use) => ({ use, ...use.takeUnwritten() }));
    const written = taken
      .filter(({ bytes }) => bytes > 0)
      .map(({ use: { keyId }, bytes }) => ({ keyId, newProfiles: 0, storedBytes: bytes }));
    try {
      await inProject(this.#deps, projectId, async (scope) => {
        if (written.length > 0) await countUse(scope, 'accept', written);
        const rows = await readUse(
          scope,
          uses.map(({ keyId }) => keyId),
        );
        for (const row of rows) uses.find(({ keyId }) => keyId === row.key_id)?.update(row);
        await this.#rotate(scope, uses);
      });
    } catch (error) {
      for (const { giveBack } of taken) giveBack();
      throw error;
    }
  }

  /** Forgets the identifiers of the cycle before the last, unless events of that time still wait for a worker. */
  async #rotate(scope: Scope, uses: readonly KeyUse[]): Promise<void> {
    const { now, waits_since } = await readWaiting(scope);
    const rotatedAt = this.#rotatedAt.get(scope.projectId);
    if (rotatedAt !== undefined && waits_since !== null && waits_since <= rotatedAt) return;
    for (const use of uses) use.rotate();
    this.#rotatedAt.set(scope.projectId, now);
  }
}

const makeMeter = (deps: QuotaDeps): Meter => {
  const meter = new Meter(deps);
  watchQueue(deps, 'recent_identifiers', { size: () => meter.recentCount, max: RECENT_MAX });
  return meter;
};

/** The use of keys in this process. */
export const meterOf = (deps: QuotaDeps): Meter => deps.resources.of(makeMeter, deps);
