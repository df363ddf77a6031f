import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/http/routes.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { findBrowser, sharedBrowser } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { nameOf, pathOf } from './samples.ts';

const database = testDatabase();
const api = testApi(database);

const ORIGIN = 'https://shop.example';
const event = { event: 'page_viewed', anonymous_id: 'browser-1' };
const PREFLIGHT = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
};
const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

const forBrowsers = routes.filter(
  ({ method, access }) => method === 'POST' && access === 'publishable',
);

describe.each(forBrowsers.map(({ path }) => path))('OPTIONS %s', (path) => {
  test('204: any page may post, with a key and without cookies, and need not ask again for a day', async () => {
    const { status, headers, body } = await api.call('OPTIONS', path, { headers: PREFLIGHT });
    expect([status, body]).toEqual([204, null]);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-max-age')).toBe('86400');
    expect(headers.has('access-control-allow-credentials')).toBe(false);
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
    );
  });

  test('needs no key and counts against no limit', async () => {
    const { headers } = await api.call('OPTIONS', path, { headers: PREFLIGHT });
    expect(headers.has('ratelimit')).toBe(false);
  });
});

test('only what a publishable key is for is open to pages of other origins', async () => {
  for (const route of routes) {
    const isOpen = route.method === 'POST' && route.access === 'publishable';
    const { status, headers } = await api.call('OPTIONS', pathOf(route, api), {
      headers: PREFLIGHT,
    });
    expect([nameOf(route), status, corsHeaders(headers).length > 0]).toEqual([
      nameOf(route),
      isOpen ? 204 : 405,
      isOpen,
    ]);
  }
  for (const path of ['/', '/healthz', '/admin/trpc', '/v1/nothing'])
    expect(corsHeaders((await api.call('OPTIONS', path, { headers: PREFLIGHT })).headers)).toEqual(
      [],
    );
});

test('a page may read the answer, also a refusal, and the headers that say when to come back', async () => {
  const key = api.project.publishable_key;
  const headers = { origin: ORIGIN };
  const answers = [
    await api.call('POST', '/v1/events', { key, body: event, headers }),
    await api.call('POST', '/v1/events', { key, body: {}, headers }),
    await api.call('POST', '/v1/events', { key: 'wrong', body: event, headers }),
    await api.call('POST', '/v1/events', { key, body: '{', contentType: 'text/plain', headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([202, 400, 401, 415]);
  for (const answer of answers) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const readable = answer.headers.get('access-control-expose-headers')?.split(', ');
    expect(readable).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit', 'X-Request-Id']));
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  }
});

test('the answer of an endpoint for servers is for nobody’s page', async () => {
  const headers = { origin: ORIGIN };
  const read = await api.call('GET', '/v1/sends', { key: api.project.server_key, headers });
  expect([read.status, corsHeaders(read.headers)]).toEqual([200, []]);
  const refused = await api.call('GET', '/v1/sends', { key: api.project.publishable_key, headers });
  expectRefusal(refused, 'wrong_key_type');
  expect(corsHeaders(refused.headers)).toEqual([]);
});

describe('a page in a browser', async () => {
  const found = await findBrowser();
  const page = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>A shop</title>');
  });
  beforeAll(() => new Promise<void>((resolve) => void page.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    page.close();
    page.closeAllConnections();
  });

  test('posts events across origins, asks once before, and cannot read from the rest', async ({
    skip,
  }) => {
    if (!found) skip('there is no Chromium: install one, or set CHROMIUM_PATH');
    const browser = await sharedBrowser(found as NonNullable<typeof found>);
    const tab = await browser.newPage();
    const asked: string[] = [];
    const session = await tab.context().newCDPSession(tab);
    await session.send('Network.enable');
    session.on('Network.requestWillBeSent', ({ request }) => {
      if (request.url.startsWith(api.url)) asked.push(request.method);
    });
    await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`);

    const post = (path: string, body: object, key: string) =>
      tab.evaluate(
        async ([url, text, token]) => {
          try {
            const response = await fetch(url, {
              method: 'POST',
              keepalive: true,
              headers: {
                authorization: `Bearer ${token}`,
                'content-type': 'application/json',
                'idempotency-key': crypto.randomUUID(),
              },
              body: text,
            });
            const limit = response.headers.get('ratelimit');
            return { status: response.status, body: await response.json(), limit };
          } catch (error) {
            return { status: 0, body: String(error), limit: null };
          }
        },
        [api.url + path, JSON.stringify(body), key] as const,
      );

    const key = api.project.publishable_key;
    for (let time = 0; time < 3; time += 1) {
      const { status, body, limit } = await post('/v1/events/batch', { events: [event] }, key);
      expect(status).toBe(202);
      expect(body).toMatchObject({ accepted: 1 });
      expect(limit).toMatch(/^"key";r=/);
    }
    expect(await post('/v1/events/batch', { events: [] }, key)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(asked.filter((method) => method === 'OPTIONS')).toHaveLength(1);
    expect(asked.filter((method) => method === 'POST')).toHaveLength(4);

    const elsewhere = await tab.evaluate(
      async ([url, token]) => {
        try {
          const headers = { authorization: `Bearer ${token}` };
          return (await fetch(`${url}/v1/sends`, { headers })).status;
        } catch {
          return 'refused by the browser';
        }
      },
      [api.url, api.project.server_key] as const,
    );
    expect(elsewhere).toBe('refused by the browser');
    await tab.close();
  });
});
