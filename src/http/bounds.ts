// What every connection and every request is held to, of whatever process.
export const TIMEOUTS = {
  headersMs: 10_000,
  requestMs: 30_000,
  /** Longer than load balancers keep idle connections, so that they close first. */
  keepAliveMs: 75_000,
  /** For so long a client may take nothing of an answer that is ready. It is checked as often: twice that at most. */
  stallMs: 30_000,
  /** How often the first two are looked at: they are late by this much at most. */
  checkMs: 1_000,
};
export const HEADER_BYTES_MAX = 16 * 1024;
/** Proxies add a few dozen; nobody has a use for more than this. */
export const HEADERS_MAX = 100;
