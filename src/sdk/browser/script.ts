// `/sdk/trunkline.js`: reads `trunklineConfig`, starts on DOMContentLoaded, and is `trunkline` from the first moment.
import { init } from './browser.ts';
import type { Client, Config } from './browser.ts';
import { makeClient, warn } from './config.ts';

const PATH = '/sdk/trunkline.js';

type Globals = { trunklineConfig?: Config; trunkline?: Client };

const globals = window as Globals;
const { src = '' } = (document.currentScript ?? {}) as Partial<HTMLScriptElement>;
const [host = '', rest] = src.split(PATH);
const servedFrom = rest === undefined ? {} : { apiHost: host };

let client: Client | undefined;
const waiting: ((client: Client) => unknown)[] = [];

const start = (): void => {
  client = init({ ...servedFrom, ...(globals.trunklineConfig as Config) });
  for (const call of waiting.splice(0)) call(client);
};

// What has that id is `window.trunkline`, too.
if (globals.trunkline?.identify) {
  warn('loaded already');
} else {
  globals.trunkline = makeClient(
    (name, given) =>
      new Promise((resolve) => {
        const call = (started: Client): void =>
          resolve((started[name] as (...all: unknown[]) => unknown)(...given));
        if (client) call(client);
        else waiting.push(call);
      }),
  );
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}
