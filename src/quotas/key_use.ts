import type { Refusal } from '../base/refusal.ts';
import { keyExceeded } from './exceeded.ts';
import type { Identifier, Name } from './identifiers.ts';
import type { UseRow } from './queries.ts';
import type { RecentNames } from './recent_names.ts';
import type { QuotaName, Quotas } from './schema.ts';

/** Two readings of one day agree about its end, as far as the clocks do. */
const SAME_DAY_MS = 3_600_000;

/**
 * Today's use of one publishable key, as this process knows it: what it read from the database, and what it has
 * accepted since.
 */
export class KeyUse {
  readonly projectId: string;
  readonly keyId: string;
  /** Names that were accepted and may still become new profiles. */
  readonly recent: RecentNames;
  lastUsedAt = Date.now();
  readAt = 0;
  #quotas: Quotas = { newProfiles: null, storedBytes: null };
  #read = { newProfiles: 0, storedBytes: 0 };
  #resetAt = 0;
  /** Stored by this process and not written yet. */
  #unwrittenBytes = 0;
  /** Admitted and not stored yet. */
  #reservedBytes = 0;
  #reservedProfiles = 0;
  /** Counted by transactions of this process since the last reading. */
  #countedProfiles = 0;
  /** A request found no room for new profiles today: the quota stays closed until midnight. */
  #isUsedUp = false;
  /** Whether names were remembered since the last look at the database: people may exist for them. */
  #hasNews = false;
  /** Whether the last look at the database covered all recent names. */
  #isWhole = true;

  constructor(projectId: string, keyId: string, recent: RecentNames) {
    this.projectId = projectId;
    this.keyId = keyId;
    this.recent = recent;
  }

  get quotas(): Readonly<Quotas> {
    return this.#quotas;
  }

  /** Returns whether what was read is of a day that is over. */
  isOver(now = Date.now()): boolean {
    return now >= this.#resetAt;
  }

  get hasUnwritten(): boolean {
    return this.#unwrittenBytes > 0;
  }

  /** Returns whether a cycle has something to write, to read or to rotate for this key. */
  get isDue(): boolean {
    return this.hasUnwritten || this.recent.size > 0 || this.lastUsedAt >= this.readAt;
  }

  /** Takes over what the database says. A new day, or another quota, opens what was closed. */
  update(row: UseRow, now = Date.now()): void {
    const resetAt = now + row.seconds_left * 1_000;
    const isNewDay =
      resetAt - this.#resetAt > SAME_DAY_MS || row.new_profiles < this.#read.newProfiles;
    if (isNewDay || row.new_profiles_per_day !== this.#quotas.newProfiles) this.#isUsedUp = false;
    this.#quotas = { newProfiles: row.new_profiles_per_day, storedBytes: row.stored_bytes_per_day };
    this.#read = { newProfiles: row.new_profiles, storedBytes: row.stored_bytes };
    this.#countedProfiles = 0;
    this.#resetAt = resetAt;
    this.readAt = now;
  }

  /** Reserves bytes for a request, or refuses it. Call the answer with what was stored of them. */
  reserveBytes(bytes: number): (storedBytes: number) => void {
    const { storedBytes: quota } = this.#quotas;
    const used = this.#read.storedBytes + this.#unwrittenBytes + this.#reservedBytes;
    if (quota !== null && used + bytes > quota) throw this.exceeded('stored_bytes');
    this.#reservedBytes += bytes;
    return (storedBytes) => {
      this.#reservedBytes -= bytes;
      this.#unwrittenBytes += storedBytes;
    };
  }

  /** Takes the bytes that are to be written; `restore` returns them when that fails. */
  takeUnwritten(): { bytes: number; restore: () => void } {
    const bytes = this.#unwrittenBytes;
    this.#unwrittenBytes = 0;
    this.#read.storedBytes += bytes;
    return {
      bytes,
      restore: () => {
        this.#unwrittenBytes += bytes;
        this.#read.storedBytes -= bytes;
      },
    };
  }

  /** Returns the most new profiles that today's requests can have made: each recent name may be one. */
  get #newProfilesMax(): number {
    const counted = this.#read.newProfiles + this.#countedProfiles;
    return counted + this.recent.size + this.#reservedProfiles;
  }

  /** Returns whether so many more new profiles stay within the quota. */
  hasRoomFor(people: number): boolean {
    const { newProfiles: quota } = this.#quotas;
    return quota === null || this.#newProfilesMax + people <= quota;
  }

  /** Returns whether so many more new profiles leave at least one place of the quota. */
  hasRoomBelow(people: number): boolean {
    return !this.#isUsedUp && this.hasRoomFor(people + 1);
  }

  /** Returns whether the quota is used up for every request that could make a new profile. */
  get isUsedUp(): boolean {
    return this.#isUsedUp || !this.hasRoomFor(1);
  }

  /** Closes the quota until midnight, unless what this process knows may be too much. */
  closeIfExact(): void {
    if (this.#isWhole && !this.#hasNews && this.#reservedProfiles === 0) this.close();
  }

  close(): void {
    this.#isUsedUp = true;
  }

  get hasNews(): boolean {
    return this.#hasNews;
  }

  /** Remembers names that may become new profiles, until a worker has processed them. */
  remember(names: readonly Name[], isLookedUp: boolean): void {
    this.#hasNews ||= !isLookedUp;
    this.recent.add(names);
  }

  /** Begins to look recent names up: returns at most so many. What is remembered meanwhile waits for the next look. */
  beginLook(max: number): Identifier[] {
    const names = this.recent.list(max);
    this.#hasNews = false;
    this.#isWhole = names.length === this.recent.size;
    return names;
  }

  failLook(): void {
    this.#hasNews = true;
  }

  /** Reserves new profiles for a transaction that counts those that it makes. Call the answer with their number. */
  reserveProfiles(people: number): (newProfiles: number) => void {
    this.#reservedProfiles += people;
    return (newProfiles) => {
      this.#reservedProfiles -= people;
      this.#countedProfiles += newProfiles;
    };
  }

  exceeded(name: QuotaName): Refusal {
    const quota = name === 'new_profiles' ? this.#quotas.newProfiles : this.#quotas.storedBytes;
    const retryAfterSeconds = (this.#resetAt - Date.now()) / 1_000;
    return keyExceeded(name, { amount: quota ?? 0, retryAfterSeconds });
  }
}
