import type { Limit } from '../base/route.ts';

/** The quotas of a project that never changed them, per publishable key and day (UTC). */
export const NEW_PROFILES_PER_DAY = 100_000;
export const STORED_BYTES_PER_DAY = 5_000_000_000;
/** No quota may be higher: a counter must hold it. */
export const NEW_PROFILES_MAX = 1_000_000_000;
export const STORED_BYTES_MAX = 1_000_000_000_000_000;

/**
 * How much of each daily quota of a key one address may use within ADDRESS_WINDOW_HOURS. So one visitor cannot close a
 * quota for all others.
 */
export const ADDRESS_PART = 0.05;
/** What an address may use of a small quota, in each process: several people may share an address. */
export const ADDRESS_PROFILES_MIN = 10;
export const ADDRESS_BYTES_MIN = 1_000_000;
export const ADDRESS_WINDOW_HOURS = 24;

const LEAST: Record<QuotaName, number> = {
  new_profiles: ADDRESS_PROFILES_MIN,
  stored_bytes: ADDRESS_BYTES_MIN,
};

/** Returns how much of a daily quota one address may use, in one of so many processes. */
export const shareOfAddress = (name: QuotaName, quota: number, processes = 1): number =>
  Math.max(LEAST[name], Math.ceil((quota * ADDRESS_PART) / processes));

/** How often each process writes what it counted, and reads what the others did. */
export const COUNT_EVERY_MS = 5_000;
/** Days whose use is kept. */
export const USE_KEPT_DAYS = 35;

/** The names of the quotas, as `reason` of `quota_exceeded`. */
export type QuotaName = 'new_profiles' | 'stored_bytes';

/** The quotas of a key. Null is no quota; 0 allows nothing. */
export type Quotas = { newProfiles: number | null; storedBytes: number | null };

export const quotaLimits: readonly Limit[] = [
  {
    name: 'New profiles with a publishable key, unless the project changed it',
    value: NEW_PROFILES_PER_DAY,
    unit: 'a day',
    where: 'each key, by UTC',
  },
  {
    name: 'Bytes stored with a publishable key, unless the project changed it',
    value: STORED_BYTES_PER_DAY,
    unit: 'a day',
    where:
      'each key, by UTC; an event, an identify and an Idempotency-Key count 256 bytes besides their text',
  },
  {
    name: 'Identifiers that one address may name of the quota for new profiles',
    value: shareOfAddress('new_profiles', NEW_PROFILES_PER_DAY),
    unit: 'a day',
    where: 'each key and address; an identifier counts once',
  },
  {
    name: 'Bytes that one address may store of the quota',
    value: shareOfAddress('stored_bytes', STORED_BYTES_PER_DAY),
    unit: 'a day',
    where: 'each key and address',
  },
];
