import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_BODY_BYTES_MAX, CALLS_PER_REQUEST_MAX } from '../../src/admin/door.ts';
import { PAGE_ITEMS_MAX } from '../../src/base/page.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let cookie: string;
beforeAll(async () => {
  cookie = await admin.openSession();
});

const query = (procedure: string, input: object) =>
  admin.call(procedure, { type: 'query', cookie, input });
const project = () => ({ projectId: api.project.project_id });

test('one request takes 20 calls, and not 21', async () => {
  const batch = (calls: number) => {
    const names = Array.from({ length: calls }, () => 'session.current').join(',');
    return api.call('GET', `/admin/trpc/${names}?batch=1&input=%7B%7D`, { headers: { cookie } });
  };
  expect(CALLS_PER_REQUEST_MAX).toBe(20);
  const most = await batch(CALLS_PER_REQUEST_MAX);
  expect(most.status).toBe(200);
  expect(most.body).toHaveLength(CALLS_PER_REQUEST_MAX);
  const more = await batch(CALLS_PER_REQUEST_MAX + 1);
  expect(more.status).toBe(400);
  expect(JSON.stringify(more.body)).toContain('invalid_request');
});

test('the session is asked for once per request, however many calls it holds', async () => {
  const names = ['session.current', 'projects.list', 'projects.list'].join(',');
  const input = encodeURIComponent(JSON.stringify({ 1: {}, 2: {} }));
  const { status, body } = await api.call('GET', `/admin/trpc/${names}?batch=1&input=${input}`, {
    headers: { cookie },
  });
  expect(status).toBe(200);
  expect(body.map((answer: { error?: unknown }) => answer.error)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('413 body_too_large: a body of 256 KiB is read, and one byte more is not', async () => {
  const sized = (bytes: number) => {
    const body = JSON.stringify({ email: 'x', password: '' });
    return body.replace('""', `"${'x'.repeat(bytes - Buffer.byteLength(body))}"`);
  };
  const post = (bytes: number) =>
    api.call('POST', '/admin/trpc/session.signIn', { body: sized(bytes) });
  expect((await post(ADMIN_BODY_BYTES_MAX)).status).toBe(400);
  const { status, body } = await post(ADMIN_BODY_BYTES_MAX + 1);
  expect(status).toBe(413);
  expect(body.error).toMatchObject({
    message: 'body_too_large',
    data: { code: 'PAYLOAD_TOO_LARGE' },
  });
  expect((await admin.signIn()).status).toBe(200);
});

test('400 invalid_json: a body that is no JSON', async () => {
  const { status, body } = await api.call('POST', '/admin/trpc/session.signIn', { body: '{"em' });
  expect(status).toBe(400);
  expect(body.error.message).toMatch(/^invalid_(json|request)$/);
});

/** As bytes on the wire: fetch would mend or refuse the request itself. */
const send = (method: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(`${api.url}/admin/trpc/session.current`, { method, headers });
    sent
      .on('error', reject)
      .on('response', (answer) => resolve(answer.resume()))
      .end();
  });

test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'HEAD'])(
  '405: %s is no way to call a procedure',
  async (method) => {
    const { statusCode, headers } = await send(method);
    expect(statusCode).toBe(405);
    expect(headers['allow']).toBe('GET, POST');
  },
);

test.each(['a b', '['])('400: a Host header of %o makes no address', async (host) => {
  expect((await send('GET', { host })).statusCode).toBe(400);
});

describe('a page', () => {
  test.each([0, PAGE_ITEMS_MAX + 1, 1.5, '1'])('400: has no %o items', async (limit) => {
    const { status, body } = await query('events.list', { ...project(), limit });
    expect(status).toBe(400);
    expect(body.error.data.issues).toMatchObject([{ path: '/limit' }]);
  });

  test('has up to 200 items', async () => {
    expect((await query('events.list', { ...project(), limit: PAGE_ITEMS_MAX })).status).toBe(200);
  });

  test.each(['events', 'sends', 'suppressions', 'automations'])(
    '400: %s.list refuses a cursor that is not its own',
    async (room) => {
      const { status, body } = await query(`${room}.list`, { ...project(), cursor: 'x' });
      expect(status).toBe(400);
      expect(body.error.data.issues).toMatchObject([{ path: '/cursor' }]);
    },
  );
});

test.each([
  ['profiles.find', { query: '' }],
  ['profiles.find', { query: '  ' }],
  ['profiles.find', { query: 'x'.repeat(256) }],
  ['profiles.find', { query: 'a\0b' }],
  ['profiles.read', { profileId: 'ann' }],
  ['sends.list', { status: 'gone' }],
  ['sends.list', { email: '' }],
  ['overview.read', { projectId: 'x' }],
])('400 invalid_request: %s with %o', async (procedure, input) => {
  const { status, body } = await query(procedure, { ...project(), ...input });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ message: 'invalid_request', data: { code: 'BAD_REQUEST' } });
  expect(body.error.data.issues).toHaveLength(1);
});

test('404 not_found: a profile that does not exist', async () => {
  const { status } = await query('profiles.read', { ...project(), profileId: randomUUID() });
  expect(status).toBe(404);
});

test('500 internal_error: a bug says nothing of itself but the id to ask for', async () => {
  await database.owner.query('alter table automations.automations rename to hidden');
  const { status, body } = await query('automations.list', project());
  await database.owner.query('alter table automations.hidden rename to automations');
  expect(status).toBe(500);
  expect(body).toEqual({
    error: {
      code: expect.any(Number),
      message: 'internal_error',
      data: {
        code: 'INTERNAL_SERVER_ERROR',
        httpStatus: 500,
        detail: expect.stringContaining('request_id'),
        request_id: expect.stringMatching(/^req_/),
        issues: [],
        members: {},
      },
    },
  });
});

test('no answer holds a secret', async () => {
  const { publishable_key, server_key, hook_token } = api.project;
  const secrets = await database.owner.query(`
    select password_hash as secret from admin.people
    union all select encode(session_hash, 'hex') from admin.sessions
    union all select encode(key_hash, 'hex') from projects.api_keys`);
  const hidden = [
    publishable_key,
    server_key,
    hook_token,
    OWNER.password,
    cookie.split('=')[1] ?? '',
    ...secrets.rows.map(({ secret }) => secret as string),
  ];
  const answers = [
    await admin.signIn(),
    await query('session.current', {}),
    await query('projects.list', {}),
    await query('overview.read', project()),
    await query('automations.list', project()),
  ].map(({ body }) => JSON.stringify(body));
  expect(hidden.filter((secret) => answers.some((answer) => answer.includes(secret)))).toEqual([]);
});
