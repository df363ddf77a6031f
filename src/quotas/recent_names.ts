import { toIdentifier } from './identifiers.ts';
import type { Identifier, Name } from './identifiers.ts';

/**
 * How many names the process keeps until a worker has processed their events. A name has at most 265 characters, so
 * this takes at most 60 MB.
 */
export const RECENT_MAX = 100_000;

/** Names of one cycle. Those that had to make room are only counted. */
class Generation {
  readonly names = new Set<Name>();
  dropped = 0;

  get size(): number {
    return this.names.size + this.dropped;
  }

  drop(): void {
    this.dropped += this.names.size;
    this.names.clear();
  }
}

/**
 * The names that one key brought and that may still wait for a worker, which may create profiles for them. After two
 * rotations a name is gone.
 */
export class RecentNames {
  readonly projectId: string;
  readonly #memory: RecentMemory;
  #young = new Generation();
  #older = new Generation();

  constructor(memory: RecentMemory, projectId: string) {
    this.#memory = memory;
    this.projectId = projectId;
  }

  /** Returns how many there are, dropped ones included. */
  get size(): number {
    return this.#young.size + this.#older.size;
  }

  /** Returns how many are in memory. */
  get heldCount(): number {
    return this.#young.names.size + this.#older.names.size;
  }

  has(name: Name): boolean {
    return this.#young.names.has(name) || this.#older.names.has(name);
  }

  /** Adds names that are not there yet. */
  add(names: readonly Name[]): void {
    this.#memory.makeRoom(names.length);
    const before = this.heldCount;
    for (const name of names) this.#young.names.add(name);
    this.#memory.heldCount += this.heldCount - before;
  }

  delete(names: Iterable<Name>): void {
    for (const name of names)
      if (this.#young.names.delete(name) || this.#older.names.delete(name))
        this.#memory.heldCount -= 1;
  }

  /** Returns at most so many of the names, the oldest first. */
  list(max: number): Identifier[] {
    return [...this.#older.names, ...this.#young.names].slice(0, max).map(toIdentifier);
  }

  /** Removes the names from before the last call. */
  rotate(): void {
    this.#memory.heldCount -= this.#older.names.size;
    this.#older = this.#young;
    this.#young = new Generation();
  }

  /** Frees the memory of all names. They still count, so the quota of the key stays closed. */
  drop(): void {
    this.#memory.heldCount -= this.heldCount;
    this.#young.drop();
    this.#older.drop();
  }

  close(): void {
    this.drop();
    this.#memory.holders.delete(this);
  }
}

/** Bounds the names of all keys of a process. The project that holds most of them makes room for the others. */
export class RecentMemory {
  readonly holders = new Set<RecentNames>();
  readonly #max: number;
  heldCount = 0;

  constructor(max = RECENT_MAX) {
    this.#max = max;
  }

  /** Opens the names of one key. */
  open(projectId: string): RecentNames {
    const names = new RecentNames(this, projectId);
    this.holders.add(names);
    return names;
  }

  makeRoom(names: number): void {
    while (this.heldCount > 0 && this.heldCount + names > this.#max) this.#findLargest()?.drop();
  }

  /** Finds the largest key of the largest project: several small keys of one project count together. */
  #findLargest(): RecentNames | undefined {
    const projects = Map.groupBy(this.holders, ({ projectId }) => projectId);
    const sizeOf = (keys: readonly RecentNames[]): number =>
      keys.reduce((sum, { heldCount }) => sum + heldCount, 0);
    const largest = [...projects.values()].reduce((most, keys) =>
      sizeOf(keys) > sizeOf(most) ? keys : most,
    );
    return largest.reduce((most, key) => (key.heldCount > most.heldCount ? key : most));
  }
}
