import { openClient } from './client.ts';
import { toSettings, warn } from './config.ts';
import type { Client, Config } from './config.ts';

export type { Autocapture, Client, Config } from './config.ts';

/** Where a page keeps its client, whichever way, and however often, the SDK was loaded. */
const HELD = Symbol.for('trunkline');
const SERVER_KEY = /^svc_secret_/;

type Holder = { [HELD]?: Client | undefined };

/** Does nothing: for pages that are made on a server, and for keys that must not be here. */
const idle = (): Client => ({
  page: () => {},
  identify: () => {},
  track: () => {},
  reset: () => {},
  consent: () => {},
  destroy: () => Promise.resolve(),
});

/**
 * Starts the SDK on this page: call it before anything else of yours listens. A page has one client:
 * whoever starts another gets the first.
 */
export const init = (config: Config): Client => {
  if (typeof window === 'undefined') return idle();
  const holder = window as Holder;
  if (holder[HELD]) {
    warn('started already: this is the first client, with its settings');
    return holder[HELD];
  }
  if (!config?.apiKey || SERVER_KEY.test(config.apiKey)) {
    warn(
      config?.apiKey
        ? 'this is a server key, and whoever sees this page can read it: revoke it, and use a publishable one'
        : 'not started: apiKey is missing',
    );
    return idle();
  }
  const client = openClient(toSettings(config), () => {
    holder[HELD] = undefined;
  });
  holder[HELD] = client;
  return client;
};
