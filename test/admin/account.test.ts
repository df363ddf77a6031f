import { expect, test } from 'vitest';
import { CONFIRMATIONS_PER_SESSION_MAX } from '../../src/admin/throttle.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { cookieFor, makePerson, PASSWORD } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

const change = (name: string, input: object, cookie: string) =>
  admin.call(name, { type: 'mutation', input, cookie });
const sessions = async (cookie: string) =>
  (await admin.call('account.sessions', { type: 'query', cookie })).body.result.data
    .items as Record<string, unknown>[];
const isOpen = async (cookie: string) =>
  (await admin.call('account.sessions', { type: 'query', cookie })).status === 200;

test('somebody sees their own sessions, and which of them asks', async () => {
  const { personId, cookie } = await makePerson(database);
  await cookieFor(database, personId);
  await makePerson(database);
  const items = await sessions(cookie);
  expect(items).toHaveLength(2);
  expect(items.filter(({ is_current }) => is_current)).toHaveLength(1);
  expect(Object.keys(items[0] ?? {}).toSorted()).toEqual([
    'created_at',
    'expires_at',
    'id',
    'is_current',
    'last_seen_at',
  ]);
});

test('a session is ended by its person, and by nobody else', async () => {
  const { personId, cookie } = await makePerson(database);
  const other = await cookieFor(database, personId);
  const stranger = await makePerson(database);
  const [lost] = (await sessions(cookie)).filter(({ is_current }) => is_current === false);
  const end = (by: string) => change('account.endSession', { sessionId: lost?.['id'] }, by);
  expect((await end(stranger.cookie)).status).toBe(404);
  expect(await isOpen(other)).toBe(true);
  expect((await end(cookie)).status).toBe(200);
  expect([await isOpen(other), await isOpen(cookie)]).toEqual([false, true]);
});

test('all other sessions end together', async () => {
  const { personId, cookie } = await makePerson(database);
  const others = [await cookieFor(database, personId), await cookieFor(database, personId)];
  const { body } = await change('account.endOtherSessions', {}, cookie);
  expect(body.result.data).toEqual({ ended: 2 });
  expect(await Promise.all([...others, cookie].map(isOpen))).toEqual([false, false, true]);
});

test('a new password needs the old one, and ends the other sessions', async () => {
  const { personId, email, cookie } = await makePerson(database);
  const other = await cookieFor(database, personId);
  const next = 'another good password';
  const to = (old_password: string, new_password = next) =>
    change('account.changePassword', { old_password, new_password }, cookie);
  const wrong = await to('not my password');
  expect([wrong.status, wrong.body.error.message]).toEqual([403, 'wrong_password']);
  expect((await to(PASSWORD, 'x'.repeat(11))).status).toBe(400);
  expect(await isOpen(other)).toBe(true);
  expect((await to(PASSWORD)).status).toBe(200);
  expect([await isOpen(other), await isOpen(cookie)]).toEqual([false, true]);
  expect((await admin.signIn({ email, password: PASSWORD })).status).toBe(401);
  expect((await admin.signIn({ email, password: next })).status).toBe(200);
});

test('429 too_many_confirmations: ten wrong passwords in one session block that session alone', async () => {
  const { email, personId, cookie } = await makePerson(database);
  const other = await cookieFor(database, personId);
  const wrong = { old_password: 'not my password', new_password: 'another good password' };
  for (let n = 0; n < CONFIRMATIONS_PER_SESSION_MAX; n += 1)
    expect((await change('account.changePassword', wrong, cookie)).status).toBe(403);
  const { status, body, headers } = await change('account.changePassword', wrong, cookie);
  expect([status, body.error.message]).toEqual([429, 'too_many_confirmations']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await change('account.changePassword', wrong, other)).status).toBe(403);
  expect((await admin.signIn({ email, password: PASSWORD })).status).toBe(200);
});

test('a key of the API takes the password again, and is shown once', async () => {
  const projectId = api.project.project_id;
  const { cookie } = await makePerson(database, { projectId, role: 'owner' });
  const issue = (input: object) =>
    change('keys.issue', { projectId, kind: 'server', ...input }, cookie);
  expect((await issue({})).body.error.message).toBe('password_needed');
  const { key } = (await issue({ password: PASSWORD })).body.result.data;
  expect((await api.call('GET', '/v1/sends', { key })).status).toBe(200);
  const listed = await admin.call('keys.list', { type: 'query', input: { projectId }, cookie });
  const { items } = listed.body.result.data;
  expect(JSON.stringify(items)).not.toContain(key);
  const made = items.find((one: { last_four: string }) => one.last_four === key.slice(-4));
  expect(items.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'publishable',
    'server',
    'server',
  ]);
  expect((await change('keys.revoke', { projectId, keyId: made.id }, cookie)).status).toBe(200);
  expect((await api.call('GET', '/v1/sends', { key })).status).toBe(401);
});
