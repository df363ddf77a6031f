/** The longest wait that a reply may ask for. */
export const RETRY_AFTER_SECONDS_MAX = 86_400;

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

const UNIT = '(s|m|h|d|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?)(?![a-z])';
const AMOUNT = '(\\d{1,6})(?:\\.\\d{1,6})? ?';
/** `try again in 341 seconds`, `enabled in 5 minutes`, `after 59m41s`, `for 1 hour`. */
const WAIT = new RegExp(
  '(?:again|retry|retried|enabled|later|wait|greylist(?:ed|ing)?|available|limit\\w{0,3})' +
    `[^.]{0,24}?(?:in|after|for|within|of)? ?${AMOUNT}${UNIT}`,
);

/**
 * Reads how long a reply asks to wait, from folded words, in seconds; null where it does not say.
 */
export const readRetryAfter = (words: string): number | null => {
  const [, amount, unit] = WAIT.exec(words) ?? [];
  if (amount === undefined || unit === undefined) return null;
  const seconds = Number(amount) * (SECONDS[unit[0] ?? ''] ?? 1);
  return seconds === 0 ? null : Math.min(seconds, RETRY_AFTER_SECONDS_MAX);
};
