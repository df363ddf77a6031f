import { beforeAll, describe, expect, test } from 'vitest';
import { createProject, issueKey, KEY_CACHE_MS } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { routes } from '../../src/http/routes.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keyOf, nameOf, pathOf } from './samples.ts';

const database = testDatabase();
const api = testApi(database);

const event = { event: 'user_signed_up', external_id: 'ann' };
const withAuthorization = (authorization: string) =>
  api.call('GET', '/v1/suppressions', { headers: { authorization } });

/** An answer without what differs from request to request. */
const comparable = ({ status, headers, body }: Answer) => ({
  status,
  body: { ...body, request_id: undefined },
  headers: [...headers].filter(
    ([name]) => !/^(?:x-request-id|traceparent|date|content-length|ratelimit)$/.test(name),
  ),
});

test('401 invalid_token: missing, malformed, unknown, revoked and misplaced tokens look alike', async () => {
  const revoked = await issueKey(database.deps, api.project.project_id, 'server');
  await database.owner.query(
    'update projects.api_keys set revoked_at = now() where last_four = $1',
    [revoked.slice(-4)],
  );
  const { server_key: key, hook_token } = api.project;
  const wrong = [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${revoked}`,
    `Bearer ${hook_token}`,
    `Bearer ${key}x`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key.replace('secret', 'pub')}`,
    `Bearer ${key} ${key}`,
    `Bearer "${key}"`,
    `Bearer ${'a'.repeat(8_000)}`,
    `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    `Basic ${Buffer.from(`:${key}`).toString('base64')}`,
    `Token ${key}`,
    key,
  ];
  const missing = await api.call('GET', '/v1/suppressions');
  expectRefusal(missing, 'invalid_token');
  for (const authorization of wrong)
    expect(comparable(await withAuthorization(authorization))).toEqual(comparable(missing));
});

test('401 invalid_token: the answer says which scheme is wanted', async () => {
  const { headers } = await api.call('GET', '/v1/suppressions');
  expect(headers.get('www-authenticate')).toBe('Bearer');
});

test('401 invalid_token: a key in the address or in another header is no key', async () => {
  const { server_key: key } = api.project;
  expectRefusal(await api.call('GET', `/v1/suppressions?token=${key}`), 'invalid_token');
  const headers = { 'x-webhook-token': key, 'x-api-key': key };
  expectRefusal(await api.call('GET', '/v1/suppressions', { headers }), 'invalid_token');
});

test('200: the name of the scheme is read in any case', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    expect((await withAuthorization(`${scheme} ${api.project.server_key}`)).status).toBe(200);
});

test('202: a server key may do what a publishable one may', async () => {
  const { status } = await api.call('POST', '/v1/events', {
    key: api.project.server_key,
    body: event,
  });
  expect(status).toBe(202);
});

test('401 invalid_token: a revoked key stops within half a minute, in every process', async () => {
  const key = await issueKey(database.deps, api.project.project_id, 'publishable');
  const post = () => api.call('POST', '/v1/events', { key, body: event });
  expect((await post()).status).toBe(202);
  await database.owner.query(
    'update projects.api_keys set revoked_at = now() where last_four = $1',
    [key.slice(-4)],
  );
  // What is kept of a key is kept in the process; another process asks, and refuses.
  await database.deps.resources.close();
  expectRefusal(await post(), 'invalid_token');
  expect(KEY_CACHE_MS).toBeLessThanOrEqual(30_000);
});

describe('the order of checks, two faults at a time', () => {
  test('401 before 403, 404, 413, 415 and 400', async () => {
    const refused = [
      await api.call('GET', '/v1/profiles/unknown/events?limit=0'),
      await api.call('POST', '/v1/events', { body: '{', contentType: 'text/plain' }),
      await api.call('POST', '/v1/events', { body: `"${'a'.repeat(1_100_000)}"` }),
      await api.call('POST', `/v1/webhooks/smtp/${api.project.project_id}`, {
        body: `"${'a'.repeat(1_100_000)}"`,
      }),
      await api.call('POST', '/webhooks/smtp/unknown', { body: '{', contentType: 'text/plain' }),
    ];
    for (const answer of refused) expectRefusal(answer, 'invalid_token');
  });

  test('403 before 404 and 400', async () => {
    const key = api.project.publishable_key;
    for (const path of [
      '/v1/profiles/unknown',
      '/v1/profiles/unknown/events?limit=0',
      '/v1/sends?x',
    ])
      expectRefusal(await api.call('GET', path, { key }), 'wrong_key_type');
  });

  test('404 before 400', async () => {
    const { server_key: key, hook_token } = api.project;
    const path = '/v1/profiles/unknown/events?limit=0';
    expectRefusal(await api.call('GET', path, { key }), 'not_found');
    const elsewhere = await api.call('POST', '/webhooks/smtp/unknown', {
      key: hook_token,
      body: '{',
      contentType: 'text/plain',
    });
    expectRefusal(elsewhere, 'not_found');
  });
});

describe('another project', () => {
  let other: NewProject;
  beforeAll(async () => {
    await api.call('POST', '/v1/events', { key: api.project.server_key, body: event });
    await api.processEvents();
    other = await createProject(database.deps, 'other');
  });

  test('404 not_found: its objects look like ids that were never given', async () => {
    const mine = await api.call('GET', '/v1/profiles/external_id:ann', {
      key: api.project.server_key,
    });
    expect(mine.status).toBe(200);
    const look = async (id: string, rest: string) =>
      comparable(await api.call('GET', `/v1/profiles/${id}${rest}`, { key: other.server_key }));
    for (const rest of ['', '/events']) {
      const random = await look('01890000-0000-7000-8000-000000000000', rest);
      expect(random.status).toBe(404);
      expect(await look(mine.body.id, rest)).toEqual(random);
      expect(await look('external_id:ann', rest)).toEqual(random);
    }
  });

  test('200: its lists are empty', async () => {
    for (const path of ['/v1/profiles?external_id=ann', '/v1/sends', '/v1/suppressions']) {
      const { body } = await api.call('GET', path, { key: other.server_key });
      expect(body).toEqual({ items: [], next_cursor: null });
    }
  });

  test('404 not_found: its webhook looks like one of a project that does not exist', async () => {
    const post = async (projectId: string) =>
      comparable(
        await api.call('POST', `/v1/webhooks/smtp/${projectId}`, {
          key: api.project.hook_token,
          body: {},
        }),
      );
    const random = await post('01890000-0000-7000-8000-000000000000');
    expect(random.status).toBe(404);
    expect(await post(other.project_id)).toEqual(random);
  });
});

describe.each(routes.map((route) => [nameOf(route), route] as const))('%s', (_name, route) => {
  test('the right token comes past 401 and 403', async () => {
    const { status } = await api.call(route.method, pathOf(route, api), {
      key: keyOf(route, api),
      ...(route.method === 'POST' ? { body: {} } : {}),
    });
    expect([401, 403, 405, 500]).not.toContain(status);
  });
});
