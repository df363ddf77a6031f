/** How far a vendor's clock may be ahead of the clock of the service, in minutes. */
export const AHEAD_MINUTES_MAX = 5;
/** Vendors that retry for a day, and may not sign anew. */
export const HOURS_24_MINUTES = 24 * 60;
/** The tolerance of Standard Webhooks, whose senders sign each try anew. */
export const STANDARD_MINUTES = 5;

const MINUTE_MS = 60_000;

/**
 * Returns whether the time of a signature, in seconds since 1970, is within so many minutes of
 * ours.
 */
export const ageOf = (timestamp: string, now: Date, minutesMax: number): 'fresh' | 'stale' => {
  const ageMs = now.getTime() - Number(timestamp) * 1_000;
  return ageMs > minutesMax * MINUTE_MS || ageMs < -AHEAD_MINUTES_MAX * MINUTE_MS
    ? 'stale'
    : 'fresh';
};
