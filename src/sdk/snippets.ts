// How an SDK is installed, with the reader's own key and host in it: what the README shows, the Console can show, and
// the tests run.

export type Filled = {
  /** The key, as it was shown once; a placeholder if left out. */
  key?: string;
  /** Where the service is, such as `https://trunkline.example.com`. */
  apiHost?: string;
};

const HOST = 'https://trunkline.example.com';
const PUBLISHABLE_KEY = 'svc_pub_live_…';
const SERVER_KEY = 'svc_secret_live_…';

/** What could end a text of JavaScript, or an attribute of HTML. */
const ENDING = /[\s'"`<>\\]/g;

const quotable = (value: string): string =>
  value.replace(ENDING, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** The script tag of `/sdk/trunkline.js`; with a publishable key. */
export const scriptTagSnippet = ({ key = PUBLISHABLE_KEY, apiHost = HOST }: Filled = {}): string =>
  `<script>
  window.trunklineConfig = { apiKey: '${quotable(key)}' };
</script>
<script src="${quotable(apiHost)}/sdk/trunkline.js" defer></script>
`;

/** `trunkline/browser` in a bundled page; with a publishable key. */
export const moduleSnippet = ({ key = PUBLISHABLE_KEY, apiHost = HOST }: Filled = {}): string =>
  `import { init } from 'trunkline/browser';

const trunkline = init({ apiKey: '${quotable(key)}', apiHost: '${quotable(apiHost)}' });

export const onSignIn = (user) => trunkline.identify(user.id, { email: user.email });
export const onOrder = (order) => trunkline.track('order_completed', { total: order.total });
export const onSignOut = () => trunkline.reset();
`;

/** `trunkline/server` in a backend; with a server key. */
export const serverSnippet = ({ key = SERVER_KEY, apiHost = HOST }: Filled = {}): string =>
  `import { Trunkline } from 'trunkline/server';

const trunkline = new Trunkline({
  token: '${quotable(key)}',
  apiHost: '${quotable(apiHost)}',
});

trunkline.identify({ anonymousId: 'device-7', userId: 'ann', traits: { plan: 'pro' } });
trunkline.track('order_completed', { userId: 'ann', properties: { total: 12.5 } });

await trunkline.close();
`;

/** Segment's library for servers, with another host; with a server key. */
export const segmentSnippet = ({ key = SERVER_KEY, apiHost = HOST }: Filled = {}): string =>
  `import { Analytics } from '@segment/analytics-node';

const analytics = new Analytics({
  writeKey: '${quotable(key)}',
  host: '${quotable(apiHost)}',
  path: '/segment/v1/batch',
});

analytics.track({ userId: 'ann', event: 'Order Completed', properties: { total: 12.5 } });

await analytics.closeAndFlush();
`;
