import type { Limit } from '../base/route.ts';

/** The quotas of a project that never changed them, per publishable key and day (UTC). */
export const NEW_PROFILES_PER_DAY = 100_000;
export const STORED_BYTES_PER_DAY = 5_000_000_000;
/** No quota may be higher: a counter must hold it. */
export const NEW_PROFILES_MAX = 1_000_000_000;
export const STORED_BYTES_MAX = 1_000_000_000_000_000;

/** How often each process writes what it counted, and reads what the others did. */
export const COUNT_EVERY_MS = 5_000;
/** Days whose use is kept. */
export const USE_KEPT_DAYS = 35;

/** The names of the quotas, as `reason` of `quota_exceeded`. */
export type QuotaName = 'new_profiles' | 'stored_bytes';

/** What a key may still do, or did: per quota. Null is no quota. */
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
];
