import { openClient } from './client.ts';
import { makeClient, toSettings, warn } from './config.ts';
import type { Client, Config } from './config.ts';

export type { Autocapture, Client, Config, Value } from './config.ts';

/** Where a page keeps its client, whichever way, and however often, the SDK was loaded. */
const HELD = Symbol.for('trunkline');
const SERVER_KEY = /^svc_secret_/;
const PUBLISHABLE_KEY = /^svc_pub_\w+$/;

type Holder = { [HELD]?: Client | undefined };

/** For pages that are made on a server, and for keys that must not be here. */
const makeIdle = (): Client => makeClient(async () => {});

/**
 * Starts the SDK on this page: call it before anything else of yours listens. A page has one client:
 * whoever starts another gets the first.
 */
export const init = (config: Config): Client => {
  if (typeof window === 'undefined') return makeIdle();
  const holder = window as Holder;
  if (holder[HELD]) {
    warn('started already');
    return holder[HELD];
  }
  const { apiKey } = config ?? {};
  if (!PUBLISHABLE_KEY.test(apiKey)) {
    if (SERVER_KEY.test(apiKey)) warn('this server key is public now: revoke it');
    else warn('no publishable key:', apiKey);
    return makeIdle();
  }
  const client = openClient(toSettings(config), () => {
    holder[HELD] = undefined;
  });
  holder[HELD] = client;
  return client;
};
