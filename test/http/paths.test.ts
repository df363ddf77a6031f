import { describe, expect, test } from 'vitest';
import { openApi } from '../../src/http/api.ts';
import { HEADER_BYTES_MAX } from '../../src/http/bounds.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { ask, toWire } from './raw_http.ts';

const database = testDatabase();
const api = testApi(database);
const close = { Connection: 'close' };

test('a project is the same in capitals', async () => {
  const { server_key: key, project_id } = api.project;
  for (const path of ['webhooks', 'email-providers']) {
    const [lower, upper] = await Promise.all(
      [project_id, project_id.toUpperCase()].map((id) =>
        api.call('GET', `/v1/projects/${id}/${path}`, { key }),
      ),
    );
    expect([upper?.status, upper?.body]).toEqual([200, lower?.body]);
  }
});

test.each(['http://[', 'http://[::1', 'http://a:b:c/', 'http://%/'])(
  'attack: the request target %s without a key is answered, and not as an error of the service',
  async (path) => {
    const [answer] = await ask(api.url, toWire({ path, headers: close }));
    expect(['invalid_request', 'not_found']).toContain(answer?.body.error);
    if (path.includes('[')) expect(answer?.status).toBe(400);
  },
);

describe('404 not_found', () => {
  test('what is not an endpoint, with a key and without', async () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v2/events',
      '/v1/event',
      '/v1/events/x',
      '/favicon.ico',
      '/%',
      '/%00',
    ];
    for (const path of paths)
      for (const key of [null, api.project.server_key])
        for (const method of ['GET', 'POST', 'DELETE'])
          expectRefusal(await api.call(method, path, { key }), 'not_found');
  });

  test('a project that is not the key’s, in capitals or not', async () => {
    const { server_key: key, project_id } = api.project;
    const other = `${project_id.slice(0, -1)}${project_id.endsWith('a') ? 'b' : 'a'}`;
    for (const id of [
      other,
      other.toUpperCase(),
      `${project_id.toUpperCase()}0`,
      `{${project_id}}`,
    ])
      for (const path of ['webhooks', 'email-providers'])
        expectRefusal(await api.call('GET', `/v1/projects/${id}/${path}`, { key }), 'not_found');
  });

  test('another spelling of an endpoint is not one', async () => {
    const key = api.project.server_key;
    for (const path of [
      '/V1/sends',
      '/v1/SENDS',
      '/v1/sends/',
      '//v1/sends',
      '/v1//sends',
      '/v1/%73ends',
    ])
      expectRefusal(await api.call('GET', path, { key }), 'not_found');
  });

  test('a method that HTTP knows, on a path that nobody knows', async () => {
    for (const method of ['PROPFIND', 'OPTIONS', 'PATCH'])
      expectRefusal(await api.call(method, '/nowhere'), 'not_found');
  });

  test('OPTIONS of everything is no endpoint either', async () => {
    const [answer] = await ask(api.url, toWire({ method: 'OPTIONS', path: '*', headers: close }));
    expect(answer && expectRefusal(answer, 'not_found')).toEqual([]);
  });
});

describe('HEAD', () => {
  test('200: says what GET says, without the body', async () => {
    const key = api.project.server_key;
    for (const path of ['/healthz', '/readyz', '/v1/sends']) {
      const [got, asked] = [
        await api.call('GET', path, { key }),
        await api.call('HEAD', path, { key }),
      ];
      expect(asked.status).toBe(200);
      expect(asked.body).toBeNull();
      for (const name of ['content-type', 'content-length'])
        expect(asked.headers.get(name)).toBe(got.headers.get(name));
    }
  });

  test('401: refuses as GET does, without the body', async () => {
    const { status, body } = await api.call('HEAD', '/v1/sends');
    expect([status, body]).toEqual([401, null]);
  });
});

describe('healthz and readyz', () => {
  test('200: alive and ready, and nobody need say who asks', async () => {
    expect((await api.call('GET', '/healthz')).body).toEqual({ status: 'alive' });
    expect((await api.call('GET', '/readyz')).body).toEqual({ status: 'ready' });
  });

  test('405 method_not_allowed: health is read', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await api.call('POST', path, { body: {} });
      expectRefusal(answer, 'method_not_allowed');
      expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD']);
    }
  });

  test('503 unavailable: a process that drains lives, but is not ready', async () => {
    const draining = await openApi(database.deps, { isDraining: true }, true);
    const look = (path: string) => fetch(`http://127.0.0.1:${draining.port}${path}`);
    expect((await look('/healthz')).status).toBe(200);
    const answer = await look('/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      error: 'unavailable',
      status: 503,
      reason: 'draining',
      detail: expect.any(String),
      request_id: answer.headers.get('x-request-id'),
    });
    await draining.close();
  });

  test('503 unavailable: a schema older than the code is not worked with', async () => {
    await database.owner.query('alter table graphile_migrate.migrations rename to elsewhere');
    const gone = await api.call('GET', '/readyz');
    expect([gone.status, gone.body.reason]).toEqual([503, 'database_unavailable']);
    await database.owner.query('alter table graphile_migrate.elsewhere rename to migrations');
    await database.owner.query("update graphile_migrate.migrations set filename = '000000.sql'");
    const old = await api.call('GET', '/readyz');
    expect([old.status, old.body.reason]).toEqual([503, 'schema_out_of_date']);
  });

  test('404 not_found: a worker has health and nothing else', async () => {
    const worker = await openApi(database.deps, { isDraining: false }, false);
    const look = (path: string) => fetch(`http://127.0.0.1:${worker.port}${path}`);
    expect((await look('/healthz')).status).toBe(200);
    expect((await look('/v1/sends')).status).toBe(404);
    await worker.close();
  });
});

describe('431 headers_too_large', () => {
  test('headers past the bound, or a path of that size', async () => {
    const tooMuch = 'a'.repeat(HEADER_BYTES_MAX);
    for (const request of [
      toWire({ path: '/healthz', headers: { 'X-Large': tooMuch } }),
      toWire({ path: `/${tooMuch}` }),
      toWire({ path: `/healthz?${tooMuch}` }),
    ]) {
      const [answer, ...more] = await ask(api.url, request);
      expect(answer && expectRefusal(answer, 'headers_too_large')).toEqual([]);
      expect(more).toEqual([]);
    }
  });

  test('200: headers within the bound', async () => {
    const headers = { 'x-large': 'a'.repeat(HEADER_BYTES_MAX - 1_024) };
    expect((await api.call('GET', '/healthz', { headers })).status).toBe(200);
  });
});
