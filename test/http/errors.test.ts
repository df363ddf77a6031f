import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/base/route.ts';
import { routes } from '../../src/http/routes.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { bytesMaxOf, keyOf, nameOf, pathOf, takesBody } from './samples.ts';

const api = testApi(testDatabase());

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

const WRONG_TOKENS = [
  'svc_secret_live_000000000000000000000000000000000',
  'svc_pub_live_000000000000000000000000000000000',
  'svc_hook_live_000000000000000000000000000000000',
  'nonsense',
];

const named = (those: readonly Route[]) => those.map((route) => [nameOf(route), route] as const);
/** The object comes before the body: where a path names one, its own tests look at what is wrong with a body. */
const namesObject = (route: Route): boolean =>
  route.access !== 'webhook' && route.find !== undefined;
const withBody = routes.filter((route) => takesBody(route) && !namesObject(route));
const webhooks = routes.filter(({ access }) => access === 'webhook');
const withKey = routes.filter(({ access }) => access !== 'webhook');
const serverOnly = routes.filter(({ access }) => access === 'server');

/** A request that only lacks what a test takes away. */
const send = (route: Route, call: Call = {}, path = pathOf(route, api)) =>
  api.call(route.method, path, {
    ...(takesBody(route) ? { body: {} } : {}),
    key: keyOf(route, api),
    ...call,
  });

test('every endpoint is of a kind that is tested here', () => {
  expect(withKey.length + webhooks.length).toBe(routes.length);
  expect([withBody, serverOnly].every((those) => those.length > 0)).toBe(true);
});

describe.each(named(routes))('%s', (_name, route) => {
  test('401 invalid_token: nobody comes in without a token', async () => {
    expectRefusal(await send(route, { key: null }), 'invalid_token');
  });

  test('401 invalid_token: nobody comes in with a wrong token', async () => {
    for (const key of WRONG_TOKENS) expectRefusal(await send(route, { key }), 'invalid_token');
  });

  test('405 method_not_allowed: Allow names the methods that the path has', async () => {
    const isForBrowsers = route.method === 'POST' && route.access === 'publishable';
    const preflight: string[] = isForBrowsers ? ['OPTIONS'] : [];
    const there = routes.filter(({ path }) => path === route.path).map(({ method }) => method);
    const allowed = [...preflight, ...(there.includes('GET') ? ['GET', 'HEAD'] : []), ...there]
      .filter((method, at, all) => all.indexOf(method) === at)
      .toSorted();
    for (const method of METHODS.filter((one) => !allowed.includes(one))) {
      const answer = await api.call(method, pathOf(route, api), { key: keyOf(route, api) });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed);
      if (method !== 'HEAD') expectRefusal(answer, 'method_not_allowed');
    }
  });
});

describe.each(named(serverOnly))('%s', (_name, route) => {
  test('403 wrong_key_type: a publishable key does not do', async () => {
    expectRefusal(await send(route, { key: api.project.publishable_key }), 'wrong_key_type');
  });
});

describe.each(named(withKey))('%s', (_name, route) => {
  test('401 invalid_token: a hook token is no key', async () => {
    expectRefusal(await send(route, { key: api.project.hook_token }), 'invalid_token');
  });
});

describe.each(named(webhooks))('%s', (_name, route) => {
  test('401 invalid_token: a key is no hook token', async () => {
    for (const key of [api.project.publishable_key, api.project.server_key])
      expectRefusal(await send(route, { key }), 'invalid_token');
  });
});

describe.each(named(withKey.filter(({ path }) => path.includes(':id'))))('%s', (_name, route) => {
  test('400 invalid_request: a path that does not decode is said to be one', async () => {
    const path = route.path.replace(':id', '%E0%A4%A');
    expect(expectRefusal(await send(route, {}, path), 'invalid_request')).toEqual([
      { path: '', message: 'the path does not decode: percent-encode it as UTF-8' },
    ]);
  });

  test('404 not_found: what names nothing, or could not', async () => {
    for (const id of [
      'x',
      '%00',
      'a%00b',
      '%2F',
      '..%2F..',
      '00000000-0000-0000-0000-000000000000',
    ])
      expectRefusal(await send(route, {}, route.path.replace(':id', id)), 'not_found');
  });
});

describe.each(named(withKey))('%s', (_name, route) => {
  test('400 invalid_request: parameters nobody knows, given twice, or that cannot be', async () => {
    // The object comes before the query: an id that names nothing is 404 whatever is asked of it.
    const expected = /:(?:id|email)\b/.test(route.path) ? 'not_found' : 'invalid_request';
    for (const text of ['lmit=1', '__proto__=1', 'limit=1&limit=1', 'cursor=%00', 'limit=%E0'])
      expectRefusal(await send(route, {}, `${pathOf(route, api)}?${text}`), expected);
  });
});

describe.each(named(withBody))('%s', (_name, route) => {
  test('415 unsupported_media_type: only JSON as it is, said to be JSON', async () => {
    const isForeign = route.access !== 'webhook' && route.takesWriteKey === true;
    const types = [null, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'];
    const encodings = [...(isForeign ? [] : ['gzip']), 'br', 'gzip, identity'];
    const refused: Call[] = [
      ...(isForeign ? [] : types).map((contentType) => ({ contentType })),
      ...encodings.map((encoding) => ({ headers: { 'content-encoding': encoding } })),
    ];
    for (const call of refused) expectRefusal(await send(route, call), 'unsupported_media_type');
  });

  test('415 unsupported_media_type: JSON is UTF-8, whatever else it is said to be', async () => {
    // Webhooks and other people's libraries are read as they are: whoever posts them cannot change a word.
    const isOurs = route.access !== 'webhook' && route.takesWriteKey !== true;
    for (const charset of ['iso-8859-1', '"UTF-16"', 'latin1;a=b', 'utf-8; charset=utf-16']) {
      const answer = await send(route, { contentType: `application/json; charset=${charset}` });
      expectRefusal(answer, isOurs ? 'unsupported_media_type' : 'invalid_request');
      if (isOurs) expect(answer.body.detail).toContain('UTF-8');
    }
  });

  test('400: JSON is JSON with a charset, too, and with a suffix', async () => {
    for (const contentType of [
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json; charset=us-ascii',
      'Application/JSON;a=b',
      'application/x+json',
    ])
      expectRefusal(await send(route, { contentType }), 'invalid_request');
  });

  test('400 invalid_json: what JSON does not know', async () => {
    for (const body of ['', ' ', '{', '{"event":}', "{'a':1}", '{} {}', '[1,]', 'NaN'])
      expectRefusal(await send(route, { body }), 'invalid_json');
  });

  test('400: bytes that are no UTF-8', async () => {
    const { status, body } = await send(route, {
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect([status, body.status]).toEqual([400, 400]);
  });

  test('400 invalid_request: JSON that is not what the endpoint takes', async () => {
    for (const body of ['null', '1', 'true', '"a"', '[]', '[[]]', '[null]', '{}'])
      expectRefusal(await send(route, { body }), 'invalid_request');
  });

  test('400: nesting of 40,000 levels is no trouble', async () => {
    const levels = 40_000;
    for (const body of [
      '['.repeat(levels) + ']'.repeat(levels),
      '{"a":'.repeat(levels) + '1' + '}'.repeat(levels),
      '['.repeat(levels),
    ]) {
      const { status } = await send(route, { body });
      expect(status).toBe(body.length > bytesMaxOf(route) ? 413 : 400);
    }
  });

  test('413 body_too_large: announced, one byte past the bound', async () => {
    const ofBytes = (bytes: number) => ({ body: `{${' '.repeat(bytes - 2)}}` });
    expectRefusal(await send(route, ofBytes(bytesMaxOf(route) + 1)), 'body_too_large');
    expectRefusal(await send(route, ofBytes(bytesMaxOf(route))), 'invalid_request');
  });
});
