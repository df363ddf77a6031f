export const RETRY_BASE_SECONDS = 30;
export const RETRY_MAX_SECONDS = 4 * 3_600;

/**
 * Seconds until the next attempt: exponential with full jitter, so that a relay that comes back
 * is not met by everybody at once. The total age is bounded by the send's expires_at.
 */
export const retryAfterSeconds = (attempt: number, random = Math.random()): number =>
  Math.ceil(random * Math.min(RETRY_MAX_SECONDS, RETRY_BASE_SECONDS * 2 ** (attempt - 1)));
