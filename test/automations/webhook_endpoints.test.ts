// Endpoints as a caller of the API has them: the secret is shown once, and never where it could be read again.
import { describe, expect, test } from 'vitest';
import { changeEndpoint } from '../../src/automations/endpoint_acts.ts';
import { disableEndpoint, findEndpoint } from '../../src/automations/endpoint_queries.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const PATH = '/v1/webhook-endpoints';
const ask = (method: string, path = PATH, body?: object, headers: Record<string, string> = {}) =>
  api.call(method, path, { key: api.project.server_key, headers, ...(body ? { body } : {}) });
const given = { name: 'CRM', url: 'https://example.com/hooks?of=us' };

describe('201 POST /v1/webhook-endpoints', () => {
  test('shows the secret once; afterwards only that there is one, and since when', async () => {
    const { status, body } = await ask('POST', PATH, given);
    expect(status).toBe(201);
    expect(body.secret).toMatch(/^whsec_/);
    const { body: shown } = await ask('GET', `${PATH}/${body.endpoint.id}`);
    expect(shown).toMatchObject({ ...given, status: 'active', secrets: [{ expires_at: null }] });
    expect(JSON.stringify([shown, (await ask('GET')).body])).not.toContain('whsec_');
  });

  test('asked again with its Idempotency-Key, answers the same secret, which is kept nowhere else', async () => {
    const headers = { 'idempotency-key': newId() };
    const first = await ask('POST', PATH, given, headers);
    const again = await ask('POST', PATH, given, headers);
    expect(again.body).toEqual(first.body);
    const { rows } = await database.owner.query<{ found: boolean }>(
      `select exists (select from http.idempotency_keys as kept where kept::text like '%whsec%') as found`,
    );
    expect(rows).toEqual([{ found: false }]);
  });
});

test.each([
  'https://example.com/ho\noks',
  'https://example.com/hooks\r\n',
  'https://exam\tple.com/hooks',
  ' https://example.com/hooks',
  'https://example.com/hooks ',
  'https://example.com/my hooks',
  'https://example.com/\u007fhooks',
  'https://example.com/\u0085hooks',
  'https://example.com/\u00a0hooks',
  'https://example.com/hooks\u2028',
  'https://exam\u200bple.com/hooks',
  'https://example.com/\u202ehooks',
])(
  '400 POST and PATCH /v1/webhook-endpoints: a URL with a blank or control character, %#',
  async (url) => {
    const issues = [{ path: '/url', message: 'must not contain blanks or control characters' }];
    const made = await ask('POST', PATH, { ...given, url });
    expect([made.status, made.body.issues]).toEqual([400, issues]);
    const { body } = await ask('POST', PATH, given);
    const changed = await ask('PATCH', `${PATH}/${body.endpoint.id}`, { url });
    expect([changed.status, changed.body.issues]).toEqual([400, issues]);
  },
);

test('201 POST /v1/webhook-endpoints: what is escaped, and letters of any script, may be called', async () => {
  for (const url of ['https://example.com/my%20hooks%0A?a=%00', 'https://bücher.example/häken'])
    expect(await ask('POST', PATH, { ...given, url })).toMatchObject({
      status: 201,
      body: { endpoint: { url } },
    });
});

test.each([
  'ftp://example.com/',
  'example.com',
  'https:example.com/hooks',
  'https:/example.com/hooks',
  'https:\\\\example.com\\hooks',
  'https://example.com:99999/',
  'https://user:pass@example.com/',
  'https://example.com/#a',
  'http://example.com/',
  'http://10.0.0.1/hooks',
])('400 POST /v1/webhook-endpoints: %s is no address to tell anybody at', async (url) => {
  const { status, body } = await ask('POST', PATH, { ...given, url });
  expect([status, body.issues?.[0]?.path]).toEqual([400, '/url']);
});

test.each([
  'https://10.0.0.1/hooks',
  'https://[fd00::1]/hooks',
  'https://[::ffff:10.0.0.1]/hooks',
  'https://169.254.169.254/latest',
  'http://192.168.1.1/hooks',
])(
  '400: %s is private: it is not kept to fail at every call, and the operator can open it',
  async (url) => {
    const expected = { path: '/url', message: expect.stringContaining('EGRESS_ALLOW_NETWORKS') };
    const made = await ask('POST', PATH, { ...given, url });
    expect([made.status, made.body.issues]).toEqual([400, [expected]]);
    const { body } = await ask('POST', PATH, given);
    const changed = await ask('PATCH', `${PATH}/${body.endpoint.id}`, { url });
    expect([changed.status, changed.body.issues]).toEqual([400, [expected]]);
  },
);

test('200 PATCH: one that was kept before is switched off, and on only where it may be told', async () => {
  const { body } = await ask('POST', PATH, given);
  const path = `${PATH}/${body.endpoint.id}`;
  await database.owner.query(
    `update automations.endpoints set url = 'https://10.0.0.1/' where endpoint_id = $1`,
    [body.endpoint.id],
  );
  expect((await ask('PATCH', path, { status: 'disabled' })).status).toBe(200);
  expect((await ask('PATCH', path, { name: 'Old' })).status).toBe(200);
  expect((await ask('PATCH', path, { status: 'active' })).status).toBe(400);
});

test('200 PATCH: in the clear only within the operator’s networks', async () => {
  const { body } = await ask('POST', PATH, { ...given, url: 'http://127.0.0.1:9/hooks' });
  const path = `${PATH}/${body.endpoint.id}`;
  expect((await ask('PATCH', path, { url: 'http://8.8.8.8/hooks' })).status).toBe(400);
  expect((await ask('PATCH', path, { name: 'Other' })).body).toMatchObject({
    name: 'Other',
    url: 'http://127.0.0.1:9/hooks',
  });
});

test('200 PATCH: what said that it is gone is told again once somebody says so', async () => {
  const { body } = await ask('POST', PATH, given);
  await database.owner.query(
    `update automations.endpoints set status = 'disabled', disabled_reason = 'gone'`,
  );
  const path = `${PATH}/${body.endpoint.id}`;
  expect((await ask('GET', path)).body).toMatchObject({ disabled_reason: 'gone' });
  expect((await ask('PATCH', path, { status: 'active' })).body).toMatchObject({
    status: 'active',
    disabled_reason: null,
  });
});

test('what is changed beside somebody else changes that alone, and tells nobody who is gone', async () => {
  const { body } = await ask('POST', PATH, given);
  const asked = { deps: database.deps, projectId: api.project.project_id };
  const { id } = body.endpoint;
  const found = await inProject(asked.deps, asked.projectId, (scope) => findEndpoint(scope, id));
  if (found === null) throw new Error('it was just made');
  await inProject(asked.deps, asked.projectId, (scope) => disableEndpoint(scope, id, 'gone'));
  const renamed = await changeEndpoint(asked, found, { name: 'Other' });
  expect(renamed).toMatchObject({ name: 'Other', status: 'disabled', disabled_reason: 'gone' });
  const again = await changeEndpoint(asked, found, { status: 'disabled' });
  expect(again).toMatchObject({ name: 'Other', status: 'disabled', disabled_reason: 'gone' });
  const moved = await changeEndpoint(asked, found, { status: 'active', url: `${given.url}&now` });
  expect(moved).toMatchObject({
    name: 'Other',
    url: `${given.url}&now`,
    status: 'active',
    disabled_reason: null,
  });
});

test('200 POST rotate-secret: the new one is shown, the old one runs out in a day', async () => {
  const { body } = await ask('POST', PATH, given);
  const path = `${PATH}/${body.endpoint.id}`;
  const { status, body: rotated } = await ask('POST', `${path}/rotate-secret`);
  expect(status).toBe(200);
  expect(rotated.secret).not.toBe(body.secret);
  const { secrets } = (await ask('GET', path)).body;
  expect(secrets.map(({ id }: { id: string }) => id)).toEqual([rotated.secret_id, body.secret_id]);
  const [now, old] = secrets;
  expect(now.expires_at).toBeNull();
  expect(Date.parse(old.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
});

test('200 DELETE: it is gone, with its secrets', async () => {
  const { body } = await ask('POST', PATH, given);
  const path = `${PATH}/${body.endpoint.id}`;
  expect((await ask('DELETE', path)).body).toEqual({ id: body.endpoint.id, deleted: true });
  expect((await ask('GET', path)).status).toBe(404);
  const { rows } = await database.owner.query(
    'select from automations.endpoint_secrets where endpoint_id = $1',
    [body.endpoint.id],
  );
  expect(rows).toEqual([]);
});
