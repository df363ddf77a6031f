export const RETRY_BASE_SECONDS = 30;
export const RETRY_MAX_SECONDS = 4 * 3_600;
/** How long feedback has to prove an unknown send before one that may be sent again is. */
export const RESEND_AFTER_SECONDS = 600;
/** A send whose outcome stays unknown is handed over so often at most; then somebody has to look. */
export const UNKNOWN_ATTEMPTS_MAX = 3;

/**
 * Seconds until the next attempt, the one rule: exponential with full jitter, so that a relay that comes back
 * is not met by everybody at once; not before the provider's own hint. The total age is bounded by the
 * send's expires_at.
 */
export const retryAfterSeconds = (
  attempt: number,
  random = Math.random(),
  hintSeconds: number | null = null,
): number => {
  const longest = Math.min(RETRY_MAX_SECONDS, RETRY_BASE_SECONDS * 2 ** (attempt - 1));
  const hinted = Math.min(RETRY_MAX_SECONDS, Math.max(0, hintSeconds ?? 0));
  return Math.ceil(Math.max(hinted, random * longest));
};

/** Past this age a send is not handed over any more, where its automation says nothing else. */
export const EXPIRES_AFTER_HOURS_DEFAULT = 72;
