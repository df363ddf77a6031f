import { setTimeout as wait } from 'node:timers/promises';
import { isDatabaseDown } from '../base/database_errors.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { outOfTurn } from '../base/session_turns.ts';
import * as identity from '../identity/identity.ts';
import { nameOf } from './identifiers.ts';
import { KeyUse } from './key_use.ts';
import { countUse, readUse, readWaiting } from './queries.ts';
import { RECENT_MAX, RecentMemory } from './recent_names.ts';
import { COUNT_EVERY_MS } from './schema.ts';

/** A key that has not been used for so long leaves the memory. */
const IDLE_MS = 10 * 60_000;
/** Where a quota is used up, a key is read again at most this often, unless new names came meanwhile. */
const READ_AGAIN_MS = 1_000;
/** How many names one such reading looks up. */
const LOOK_UP_MAX = 10_000;
/** How long a process that stops waits for its last cycle. Bytes that are not written by then are lost. */
export const CLOSE_WITHIN_MS = 5_000;

export type QuotaDeps = Pick<Deps, 'config' | 'db' | 'keys' | 'log' | 'resources' | 'turns'>;

/** The keys of one project that are in use. */
type Project = {
  projectId: string;
  keys: Map<string, KeyUse>;
  /** The database's time when names were last rotated. */
  rotatedAt: Date | null;
  /** When a cycle last came to this project: the one that waits longest comes first. */
  triedAt: number;
};

/**
 * The use of publishable keys, in this process. Requests are checked against memory; every COUNT_EVERY_MS a cycle
 * writes the bytes that the process stored, and reads what all processes counted.
 */
export class Meter {
  readonly memory = new RecentMemory();
  readonly #deps: Omit<QuotaDeps, 'turns'>;
  readonly #projects = new Map<string, Project>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #cycle: Promise<void> | null = null;
  #stopsAt = Infinity;

  constructor(deps: QuotaDeps) {
    this.#deps = outOfTurn(deps);
    this.#timer = setInterval(() => void this.runCycle(), COUNT_EVERY_MS);
    this.#timer.unref();
  }

  /** Returns the use of a key, read from the database the first time and after midnight. */
  async useOf(deps: QuotaDeps, projectId: string, keyId: string): Promise<KeyUse> {
    const project = this.#projects.get(projectId) ?? this.#addProject(projectId);
    const use = project.keys.get(keyId) ?? this.#addKey(project, keyId);
    use.lastUsedAt = Date.now();
    if (use.isOver()) await this.#once(keyId, () => this.#read(deps, use));
    return use;
  }

  /** Reads a key again where that may free places of its quota, or always. */
  async refresh(deps: QuotaDeps, use: KeyUse, isAlways: boolean): Promise<void> {
    if (!isAlways && !use.hasNews && Date.now() - use.readAt < READ_AGAIN_MS) return;
    await this.#once(use.keyId, () => this.#lookAgain(deps, use));
  }

  /** Reads the keys of a project again, after its quotas were changed. */
  async refreshProject(projectId: string): Promise<void> {
    const project = this.#projects.get(projectId);
    if (project) await this.#count(project, [...project.keys.values()]);
  }

  /** Writes and reads all keys that are due, unless a cycle runs already. */
  runCycle(): Promise<void> {
    this.#cycle ??= this.#countAll().finally(() => {
      this.#cycle = null;
    });
    return this.#cycle;
  }

  /** Writes what is left, for CLOSE_WITHIN_MS at most. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopsAt = Date.now() + CLOSE_WITHIN_MS;
    const isDone = new AbortController();
    const deadline = wait(CLOSE_WITHIN_MS, false, { signal: isDone.signal }).catch(() => false);
    const isWritten = await Promise.race([this.#writeAll(), deadline]);
    isDone.abort();
    if (!isWritten) this.#deps.log.warn('the process stops before all key use is written');
  }

  /** Writes what the running cycle leaves. Returns whether nothing is left. */
  async #writeAll(): Promise<boolean> {
    await this.#cycle;
    await this.runCycle();
    const projects = [...this.#projects.values()];
    return projects.every(({ keys }) => [...keys.values()].every((use) => !use.hasUnwritten));
  }

  #addProject(projectId: string): Project {
    const project: Project = { projectId, keys: new Map(), rotatedAt: null, triedAt: 0 };
    this.#projects.set(projectId, project);
    return project;
  }

  #addKey({ projectId, keys }: Project, keyId: string): KeyUse {
    const use = new KeyUse(projectId, keyId, this.memory.open(projectId));
    keys.set(keyId, use);
    return use;
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

  /** Reads the use of a key, and in the same snapshot which of its recent names are of people who exist by now. */
  async #lookAgain(deps: QuotaDeps, use: KeyUse): Promise<void> {
    const recent = use.beginLook(LOOK_UP_MAX);
    try {
      await inProject(deps, use.projectId, async (scope) => {
        const known = await identity.listByValues(scope, recent);
        for (const row of await readUse(scope, [use.keyId])) use.update(row);
        use.recent.delete(known.map(nameOf));
      });
    } catch (error) {
      use.failLook();
      throw error;
    }
  }

  /** Stops where the database is down, and at the end of the time to close. The next cycle goes on with the others. */
  async #countAll(): Promise<void> {
    const byWait = [...this.#projects.values()].toSorted((a, b) => a.triedAt - b.triedAt);
    for (const project of byWait) {
      if (Date.now() >= this.#stopsAt) return;
      const due = [...project.keys.values()].filter(({ isDue }) => isDue);
      if (due.length === 0) continue;
      project.triedAt = Date.now();
      try {
        await this.#count(project, due);
      } catch (error) {
        const { projectId: project_id } = project;
        this.#deps.log.warn({ err: error, project_id }, 'key use not counted; tried again');
        if (isDatabaseDown(error)) return;
      }
    }
    this.#removeIdle();
  }

  #removeIdle(): void {
    const idleSince = Date.now() - IDLE_MS;
    for (const { projectId, keys } of this.#projects.values()) {
      for (const use of keys.values()) {
        if (use.lastUsedAt >= idleSince || use.hasUnwritten) continue;
        use.recent.close();
        keys.delete(use.keyId);
      }
      if (keys.size === 0) this.#projects.delete(projectId);
    }
  }

  /** Writes what this process stored for a project, and reads what all did. */
  async #count(project: Project, uses: readonly KeyUse[]): Promise<void> {
    const taken = uses.map((use) => ({ use, ...use.takeUnwritten() }));
    const written = taken
      .filter(({ bytes }) => bytes > 0)
      .map(({ use: { keyId }, bytes }) => ({ keyId, newProfiles: 0, storedBytes: bytes }));
    try {
      await inProject(this.#deps, project.projectId, async (scope) => {
        if (written.length > 0) await countUse(scope, 'accept', written);
        const rows = await readUse(
          scope,
          uses.map(({ keyId }) => keyId),
        );
        for (const row of rows) project.keys.get(row.key_id)?.update(row);
        await this.#rotate(scope, project);
      });
    } catch (error) {
      for (const { restore } of taken) restore();
      throw error;
    }
  }

  /** Removes the names of the cycle before the last, unless events of that time still wait for a worker. */
  async #rotate(scope: Scope, project: Project): Promise<void> {
    const { now, waits_since } = await readWaiting(scope);
    const { rotatedAt, keys } = project;
    if (rotatedAt !== null && waits_since !== null && waits_since <= rotatedAt) return;
    for (const use of keys.values()) use.recent.rotate();
    project.rotatedAt = now;
  }
}

const makeMeter = (deps: QuotaDeps): Meter => {
  const meter = new Meter(deps);
  watchQueue(deps, 'recent_identifiers', { size: () => meter.memory.heldCount, max: RECENT_MAX });
  return meter;
};

/** The use of keys in this process. */
export const meterOf = (deps: QuotaDeps): Meter => deps.resources.of(makeMeter, deps);
