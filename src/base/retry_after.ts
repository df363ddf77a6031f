/** The longest time that a server may ask for. */
export const RETRY_AFTER_SECONDS_MAX = 86_400;
const MS_PER_SECOND = 1_000;
/** All three forms of RFC 9110 §5.6.7 begin with a day; the oldest has no zone and means GMT. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

const secondsOf = (text: string, now: number): number | null => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const moment = DATE.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;
  return Number.isNaN(moment) ? null : Math.max(0, Math.ceil((moment - now) / MS_PER_SECOND));
};

/**
 * Reads the header `Retry-After` (RFC 9110 §10.2.3): seconds, or a date. Returns whole seconds up to
 * `RETRY_AFTER_SECONDS_MAX`; null where there is none, or it is neither.
 */
export const readRetryAfter = (text: string | undefined, now = Date.now()): number | null => {
  const seconds = secondsOf(text?.trim() ?? '', now);
  return seconds === null ? null : Math.min(seconds, RETRY_AFTER_SECONDS_MAX);
};
