/** How far a vendor's clock may be ahead of the clock of the service, in minutes. */
export const AHEAD_MINUTES_MAX = 5;
/** Vendors that retry for a day, and may not sign anew. */
export const HOURS_24_MINUTES = 24 * 60;
/** The tolerance of Standard Webhooks, whose senders sign each try anew. */
export const STANDARD_MINUTES = 5;

const MINUTE_MS = 60_000;

/** Whether a signature is at most so many minutes old, and not from the future. */
export const isFresh = (signedAt: Date, now: Date, minutesMax: number): boolean => {
  const ageMs = now.getTime() - signedAt.getTime();
  return ageMs <= minutesMax * MINUTE_MS && ageMs >= -AHEAD_MINUTES_MAX * MINUTE_MS;
};

/** Reads the time of a signature: seconds since 1970, as every vendor writes it. Null for any other text. */
export const readSignedAt = (timestamp: string): Date | null =>
  /^\d{1,12}$/.test(timestamp) ? new Date(Number(timestamp) * 1_000) : null;
