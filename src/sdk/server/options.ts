import type { TrunklineError } from './errors.ts';

/** What the service takes in one batch. */
export const BATCH_EVENTS_MAX = 50;
export const BATCH_BYTES_MAX = 1024 * 1024;
/** A call with more could not be sent at all: the braces and `sent_at` of its batch take some of it. */
export const CALL_BYTES_MAX = BATCH_BYTES_MAX - 256;

export const FLUSH_INTERVAL_MS = 1_000;
export const QUEUE_CALLS_MAX = 10_000;
export const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
/** Requests that are under way at once: those of one person come after each other. */
export const REQUESTS_MAX = 4;
export const REQUEST_TIMEOUT_MS = 15_000;
/** The first wait after a failure is random below this, and doubles. */
export const RETRY_BASE_MS = 500;
export const RETRY_MAX_MS = 30_000;
/** How long `flush` and `close` wait unless they are told otherwise. */
export const FLUSH_TIMEOUT_MS = 30_000;

export type TrunklineOptions = {
  /** A server key, `svc_secret_live_…`. */
  token: string;
  /** Where the service is, such as `https://trunkline.example.com`. */
  apiHost: string;
  /** How long a call waits for others to share its request. */
  flushIntervalMs?: number;
  /** How many calls make a request at once; at most 50. */
  flushSize?: number;
  /** How many calls may wait for the service. Past that `track` and its like throw `queue_full`. */
  queueCallsMax?: number;
  /** The same in bytes. */
  queueBytesMax?: number;
  requestTimeoutMs?: number;
  retryBaseMs?: number;
  retryMaxMs?: number;
  /**
   * Told of each call that the service refuses, and once when nothing more can be sent. Without it
   * both are written to the console.
   */
  onError?: (error: TrunklineError) => void;
};

export type Settings = Required<TrunklineOptions>;

const BOUNDS = {
  flushIntervalMs: [FLUSH_INTERVAL_MS, 0, 3_600_000],
  flushSize: [BATCH_EVENTS_MAX, 1, BATCH_EVENTS_MAX],
  queueCallsMax: [QUEUE_CALLS_MAX, 1, 10_000_000],
  queueBytesMax: [QUEUE_BYTES_MAX, 1_024, 4 * 1024 ** 3],
  requestTimeoutMs: [REQUEST_TIMEOUT_MS, 1, 600_000],
  retryBaseMs: [RETRY_BASE_MS, 1, 600_000],
  retryMaxMs: [RETRY_MAX_MS, 1, 3_600_000],
} as const;
type Bounded = keyof typeof BOUNDS;

const NAMES = new Set(['token', 'apiHost', 'onError', ...Object.keys(BOUNDS)]);

const readBounded = (options: TrunklineOptions): Record<Bounded, number> => {
  const read = (name: Bounded): number => {
    const [usual, least, most] = BOUNDS[name];
    const value = options[name] ?? usual;
    if (!Number.isInteger(value) || value < least || value > most)
      throw new TypeError(`${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
  return Object.fromEntries(
    (Object.keys(BOUNDS) as Bounded[]).map((name) => [name, read(name)]),
  ) as Record<Bounded, number>;
};

const readToken = (token: unknown): string => {
  if (typeof token !== 'string' || !/^svc_secret_\w+$/.test(token))
    throw new TypeError('token must be a server key, svc_secret_live_…: make one in the Console');
  return token;
};

const readHost = (apiHost: unknown): string => {
  const wanted = 'apiHost must be an address such as https://trunkline.example.com';
  if (typeof apiHost !== 'string' || !/^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/.test(apiHost))
    throw new TypeError(wanted);
  return apiHost.replace(/\/+$/, '');
};

/** Nothing is refused without a word: who gives no `onError` finds it in the console. */
const sayOnConsole = (error: TrunklineError): void => {
  console.error(`trunkline: ${error.message}`);
};

/** The options with what was left out, or a TypeError that says which is wrong. */
export const readOptions = (options: TrunklineOptions): Settings => {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('new Trunkline needs { token, apiHost }');
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined)
    throw new TypeError(`${unknown} is no option: there are ${[...NAMES].join(', ')}`);
  const { onError = sayOnConsole } = options;
  if (typeof onError !== 'function') throw new TypeError('onError must be a function');
  return {
    ...readBounded(options),
    token: readToken(options.token),
    apiHost: readHost(options.apiHost),
    onError,
  };
};
