import { beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/http/routes.ts';
import { CONSOLE_PATH } from '../../src/admin/console.ts';
import { withEndpoint } from '../automations/with_endpoint.ts';
import { nameOf, pathOf, keyOf } from '../http/samples.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { inHalves } from '../support/session.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);

const EVIL = 'evil.example';
const NAMES = ['next', 'url', 'redirect', 'redirect_uri', 'return_to', 'continue', 'target', 'u'];
const parameters = (): string =>
  NAMES.map((name) => `${name}=${encodeURIComponent(`https://${EVIL}/`)}`).join('&');

/** What leads anywhere, and where. */
const LEADS = { '/': '/console', '/docs/': '/docs' };

/** Where an answer leads, if it does. */
const placesOf = (response: Response): string[] =>
  ['location', 'refresh', 'content-location', 'link'].flatMap(
    (name) => response.headers.get(name) ?? [],
  );

test('no door leads to where a parameter, a path or a header says', async () => {
  const cookie = await admin.openSession();
  const pages = [
    '/',
    CONSOLE_PATH,
    `${CONSOLE_PATH}/sign-in`,
    '/docs',
    '/docs/',
    `/u/${'A'.repeat(130)}`,
  ];
  const strange = [
    `//${EVIL}`,
    `//${EVIL}/..`,
    `/${EVIL}`,
    `/\\${EVIL}`,
    `/docs//${EVIL}`,
    `/console//${EVIL}`,
  ];
  const reading = routes
    .filter(({ method }) => method === 'GET')
    .map((route) => pathOf(route, api));
  const led: Record<string, string[]> = {};
  for (const path of [...pages, ...strange, ...reading]) {
    const joined = `${path}${path.includes('?') ? '&' : '?'}${parameters()}`;
    for (const asked of [path, joined]) {
      const response = await fetch(api.url + asked, {
        redirect: 'manual',
        headers: {
          ...inHalves(cookie),
          authorization: `Bearer ${api.project.server_key}`,
          'x-forwarded-host': EVIL,
          'x-original-url': `https://${EVIL}/`,
          referer: `https://${EVIL}/`,
        },
      });
      await response.arrayBuffer();
      led[asked] = placesOf(response);
      // What we lead to is a path of ours, and not one that a browser takes for a host.
      for (const place of placesOf(response))
        expect([asked, place]).toEqual([asked, expect.stringMatching(/^\/[\w-]/)]);
      expect([asked, placesOf(response).join().includes(EVIL)]).toEqual([asked, false]);
    }
  }
  // Some do lead somewhere: always to the same place.
  for (const [path, place] of Object.entries(LEADS))
    for (const asked of [path, `${path}?${parameters()}`])
      expect([asked, led[asked]]).toEqual([asked, [place]]);
});

test('who signs in is led nowhere', async () => {
  const response = await fetch(`${api.url}/admin/trpc/session.signIn?${parameters()}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', referer: `https://${EVIL}/` },
    body: JSON.stringify(OWNER),
  });
  expect([response.status, response.headers.getSetCookie().length]).toEqual([200, 1]);
  expect([placesOf(response), await response.text()]).toEqual([
    [],
    expect.not.stringContaining(EVIL),
  ]);
});

test('who posts anything is led nowhere', async () => {
  const posts = routes.filter(({ method }) => method === 'POST');
  const asked = posts.map(
    (route) => [nameOf(route), pathOf(route, api), keyOf(route, api)] as const,
  );
  for (const [name, path, key] of asked) {
    const response = await fetch(`${api.url}${path}?${parameters()}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({ ...OWNER, next: `https://${EVIL}/` }),
    });
    await response.arrayBuffer();
    expect([name, placesOf(response)]).toEqual([name, []]);
    expect([name, response.status >= 300 && response.status < 400]).toEqual([name, false]);
  }
});

describe('whom we ask', () => {
  const elsewhere = httpsSink({ usually: () => ({ status: 200, json: {} }) });
  const leading = (status: number) => ({
    status,
    json: {},
    headers: { location: `${elsewhere.url}/taken` },
  });
  const hooks = httpsSink({ usually: () => ({ status: 200, json: {} }) });
  let told: Awaited<ReturnType<typeof withEndpoint>>;
  beforeAll(async () => {
    told = await withEndpoint(database, hooks);
    await told.live();
  });

  const ask: Record<string, (status: number) => Promise<unknown>> = {
    relay_api: async (status) => {
      sinks.relay.play('', leading(status));
      return providersOf(api).create(fieldsOf(sinks, 'relay_api'));
    },
    cloud_api: async (status) => {
      sinks.cloud.play('', leading(status));
      return providersOf(api).create(fieldsOf(sinks, 'cloud_api'));
    },
    'a webhook step': async (status) => {
      hooks.play('', leading(status), 1);
      await told.happen('trial_started', `ann-${status}`);
      return told.call();
    },
  };
  const cases = Object.keys(ask).flatMap((who) =>
    [301, 302, 307, 308].map((status) => [who, status] as const),
  );

  test.each(cases)('nobody whom we ask leads us elsewhere: %s with %i', async (who, status) => {
    elsewhere.reset();
    await ask[who]?.(status);
    const { requests } = { relay_api: sinks.relay, cloud_api: sinks.cloud }[who] ?? hooks;
    expect(requests.length).toBeGreaterThan(0);
    expect(elsewhere.requests).toEqual([]);
  });
});
