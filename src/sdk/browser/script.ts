// `/sdk/trunkline.js`: reads `trunklineConfig`, starts on DOMContentLoaded, and is `trunkline` from the first moment.
import { init } from './browser.ts';
import type { Client, Config } from './browser.ts';
import { warn } from './config.ts';

const PATH = '/sdk/trunkline.js';

type Globals = { trunklineConfig?: Config; trunkline?: Client };

const globals = window as Globals;
const { src = '' } = (document.currentScript ?? {}) as Partial<HTMLScriptElement>;
const [host = '', rest] = src.split(PATH);
const servedFrom = rest === undefined ? {} : { apiHost: host };

let client: Client | undefined;
const waiting: ((client: Client) => unknown)[] = [];

/** Does it as soon as there is a client. */
const whenStarted = (call: (client: Client) => unknown): void => {
  if (client) call(client);
  else waiting.push(call);
};

const start = (): void => {
  client = init({ ...servedFrom, ...(globals.trunklineConfig as Config) });
  for (const call of waiting.splice(0)) call(client);
};

if (globals.trunkline) {
  warn('the script is there twice: the first is used');
} else {
  globals.trunkline = {
    page: () => whenStarted((started) => started.page()),
    identify: (...given) => whenStarted((started) => started.identify(...given)),
    track: (...given) => whenStarted((started) => started.track(...given)),
    reset: () => whenStarted((started) => started.reset()),
    consent: (...given) => whenStarted((started) => started.consent(...given)),
    destroy: () =>
      new Promise<void>((resolve) => whenStarted((started) => resolve(started.destroy()))),
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}
