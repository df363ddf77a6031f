import { Refusal } from '../base/refusal.ts';
import type { UseRow } from './queries.ts';
import type { QuotaName, Quotas } from './schema.ts';

/** An external or anonymous id that a request names. */
export type Identifier = { kind: 'external' | 'anonymous'; value: string };

/** Ends a request that was admitted: with the bytes that it stored, and the profiles that its transaction counted. */
export type Settle = (storedBytes: number, newProfiles?: number) => void;

const nameOf = ({ kind, value }: Identifier): string => `${kind} ${value}`;

const COUNTED: Record<QuotaName, string> = {
  new_profiles: 'new profiles',
  stored_bytes: 'stored bytes',
};

/**
 * Today's use of one publishable key, as this process knows it: what it read from the database, and what it has
 * accepted since.
 */
export class KeyUse {
  readonly projectId: string;
  readonly keyId: string;
  lastUsedAt = Date.now();
  readAt = 0;
  #quotas: Quotas = { newProfiles: null, storedBytes: null };
  #read = { newProfiles: 0, storedBytes: 0 };
  #resetAt = 0;
  /** Stored by this process and not written yet. */
  #unwrittenBytes = 0;
  /** Admitted and not stored yet. */
  #reservedBytes = 0;
  /** Identifiers that were accepted and may still wait for a worker, who may make profiles of them. */
  #recent = new Map<string, Identifier>();
  #older = new Map<string, Identifier>();
  #hasNews = false;

  constructor(projectId: string, keyId: string) {
    this.projectId = projectId;
    this.keyId = keyId;
  }

  /** Whether what was read is of a day that is over. */
  isOver(now = Date.now()): boolean {
    return now >= this.#resetAt;
  }

  get recentCount(): number {
    return this.#recent.size + this.#older.size;
  }

  get hasProfilesQuota(): boolean {
    return this.#quotas.newProfiles !== null;
  }

  /** Takes in what the database says. */
  update(row: UseRow, now = Date.now()): void {
    this.#quotas = { newProfiles: row.new_profiles_per_day, storedBytes: row.stored_bytes_per_day };
    this.#read = { newProfiles: row.new_profiles, storedBytes: row.stored_bytes };
    this.#resetAt = now + row.seconds_left * 1_000;
    this.readAt = now;
  }

  /** Reserves bytes for a request, or refuses it. Call the answer with what was stored of them, and made. */
  reserve(bytes: number): Settle {
    const { storedBytes: quota } = this.#quotas;
    const used = this.#read.storedBytes + this.#unwrittenBytes + this.#reservedBytes;
    if (quota !== null && used + bytes > quota) throw this.exceeded('stored_bytes', quota);
    this.#reservedBytes += bytes;
    return (storedBytes, newProfiles = 0) => {
      this.#reservedBytes -= bytes;
      this.#unwrittenBytes += storedBytes;
      this.#read.newProfiles += newProfiles;
    };
  }

  /** Takes the bytes that are to be written; `giveBack` returns them when that fails. */
  takeUnwritten(): { bytes: number; giveBack: () => void } {
    const bytes = this.#unwrittenBytes;
    this.#unwrittenBytes = 0;
    this.#read.storedBytes += bytes;
    return {
      bytes,
      giveBack: () => {
        this.#unwrittenBytes += bytes;
        this.#read.storedBytes -= bytes;
      },
    };
  }

  /** Returns the identifiers that no recent request named. */
  listFresh(identifiers: readonly Identifier[]): Identifier[] {
    const fresh = new Map(identifiers.map((one) => [nameOf(one), one]));
    for (const name of fresh.keys())
      if (this.#recent.has(name) || this.#older.has(name)) fresh.delete(name);
    return [...fresh.values()];
  }

  /** Whether so many more people stay within the quota, if all who were named recently are new. */
  hasRoomFor(people: number): boolean {
    const { newProfiles: quota } = this.#quotas;
    return quota === null || this.#read.newProfiles + this.recentCount + people <= quota;
  }

  /** Whether identifiers were remembered since the last call of `forget`: some of them may be known by now. */
  get hasNews(): boolean {
    return this.#hasNews;
  }

  remember(identifiers: readonly Identifier[]): void {
    this.#hasNews = true;
    for (const one of identifiers) this.#recent.set(nameOf(one), one);
  }

  /** Returns at most so many of the identifiers named recently, the oldest first. */
  listRecent(max: number): Identifier[] {
    return [...this.#older.values(), ...this.#recent.values()].slice(0, max);
  }

  /** Forgets identifiers that belong to somebody by now. */
  forget(identifiers: readonly Identifier[]): void {
    this.#hasNews = false;
    for (const one of identifiers) {
      this.#older.delete(nameOf(one));
      this.#recent.delete(nameOf(one));
    }
  }

  /** Forgets the identifiers of before the last call: a worker has processed them. */
  rotate(): void {
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  exceededProfiles(): Refusal {
    return this.exceeded('new_profiles', this.#quotas.newProfiles ?? 0);
  }

  exceeded(name: QuotaName, quota: number): Refusal {
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#resetAt - Date.now()) / 1_000));
    return exceeded(name, { quota, retryAfterSeconds });
  }
}

/** The refusal of a request that goes past a quota. */
export const exceeded = (
  name: QuotaName,
  { quota, retryAfterSeconds }: { quota: number; retryAfterSeconds: number },
): Refusal =>
  new Refusal('quota_exceeded', {
    detail:
      `The daily quota of ${quota} ${COUNTED[name]} of this publishable key is used up. ` +
      'Retry after Retry-After, at the next UTC midnight, or raise the quota in Settings, Keys.',
    retryAfterSeconds,
    members: { reason: name },
  });
