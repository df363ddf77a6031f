/** Which events are captured without a call. */
export type Autocapture = {
  /** `page_viewed`: the first page, and every one that a single-page app goes to. */
  pageviews: boolean;
  /** `element_clicked`. */
  clicks: boolean;
  /** `form_submitted`, never with values. */
  forms: boolean;
  /** `page_left`. */
  pageLeave: boolean;
};

export type Config = {
  /** A publishable key of the project, `svc_pub_live_…`. */
  apiKey: string;
  /** Where the API is; where the script came from, or the page's own origin, if left out. */
  apiHost?: string;
  /** All on, unless said otherwise; `false` is all off. */
  autocapture?: Partial<Autocapture> | false;
  /** How long an event waits for others, in milliseconds; 3000 if left out. */
  flushIntervalMs?: number;
  /** So many events wait for no more; 10 if left out. */
  flushQueueSize?: number;
  /** How often a batch that failed is tried again before the next occasion; 3 if left out. */
  maxRetries?: number;
  /**
   * Whether the visitor has agreed: `false` keeps still until `consent(true)`. If left out, the browser's
   * Do-Not-Track and Global Privacy Control decide.
   */
  consent?: boolean;
};

/** What an event may say: nothing nested. */
export type Value = string | number | boolean | undefined;

export type Client = {
  /** Says that a page is viewed: for pages that autocapture cannot tell apart. */
  page: () => void;
  /** Says who the visitor is; what they did before becomes theirs. */
  identify: (userId: string, traits?: object) => void;
  /** Says that something happened, in past_tense_snake_case. */
  track: <P extends object & { [K in keyof P]: Value }>(event: string, properties?: P) => void;
  /** Forgets who the visitor is: call it on log-out and when accounts are switched. */
  reset: () => void;
  /** Starts, or stops and forgets all that is stored on the device. */
  consent: (isGiven: boolean) => void;
  /** Sends what waits, and removes every listener. */
  destroy: () => Promise<void>;
};

/** What a client that is not there yet, or never will be, is made from. */
const OPERATIONS = ['page', 'identify', 'track', 'reset', 'consent', 'destroy'] as const;

/** A client each of whose operations is done by `act`. */
export const makeClient = (
  act: (name: keyof Client, given: unknown[]) => Promise<unknown>,
): Client =>
  Object.fromEntries(
    OPERATIONS.map((name) => [name, (...given: unknown[]) => act(name, given)]),
  ) as unknown as Client;

export type Settings = {
  apiKey: string;
  apiHost: string;
  autocapture: Autocapture;
  flushIntervalMs: number;
  flushQueueSize: number;
  maxRetries: number;
  consent: boolean | undefined;
};

const FLUSH_INTERVAL_MS_DEFAULT = 3_000;
const FLUSH_QUEUE_EVENTS_DEFAULT = 10;
const RETRIES_DEFAULT = 3;

/** Takes `https://api.example.com`, the bare host, or a path of the page's own origin. */
const toBase = (apiHost: string): string =>
  (/^(\w+:\/)?\//.test(apiHost) ? apiHost : `https://${apiHost}`).replace(/\/+$/, '');

export const toSettings = (config: Config): Settings => {
  const isWanted = config.autocapture !== false;
  return {
    apiKey: config.apiKey,
    apiHost: toBase(config.apiHost || location.origin),
    autocapture: {
      pageviews: isWanted,
      clicks: isWanted,
      forms: isWanted,
      pageLeave: isWanted,
      ...config.autocapture,
    },
    flushIntervalMs: config.flushIntervalMs ?? FLUSH_INTERVAL_MS_DEFAULT,
    flushQueueSize: config.flushQueueSize ?? FLUSH_QUEUE_EVENTS_DEFAULT,
    maxRetries: config.maxRetries ?? RETRIES_DEFAULT,
    consent: config.consent,
  };
};

/** Says something to whoever builds the page. */
export const warn = (...said: unknown[]): void => console.warn('[trunkline]', ...said);
