import { request } from 'node:http';
import { expect, test } from 'vitest';
import { LAST_SEEN_SECONDS } from '../../src/admin/sessions.ts';
import { openSession } from '../../src/admin/sessions.ts';
import { Keys } from '../../src/base/keys.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { inHalves, sessionOf } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

const current = async (cookie: string) =>
  (await admin.call('session.current', { type: 'query', cookie })).body.result.data.person;
const signOut = (cookie: string, headers: Record<string, string> = {}) =>
  admin.call('session.signOut', { type: 'mutation', cookie, headers });

test('a session says who is signed in', async () => {
  const cookie = await admin.openSession();
  expect(await current(cookie)).toEqual({ email: OWNER.email, is_admin: true });
  expect(await current('')).toBeNull();
});

test('the token is stored as a hash only', async () => {
  const cookie = await admin.openSession();
  const token = cookie.replace('trunkline_session=', '').split('.')[0] ?? '';
  const { rows } = await database.owner.query('select s::text as row from admin.sessions as s');
  const raw = Buffer.from(token, 'base64url').toString('hex');
  expect(rows.some(({ row }) => row.includes(token) || row.includes(raw))).toBe(false);
});

test('signing out ends the session for everybody who has its token', async () => {
  const cookie = await admin.openSession();
  const other = await admin.openSession();
  const { status, headers } = await signOut(cookie);
  expect(status).toBe(200);
  expect(headers.getSetCookie()[0]).toMatch(/^trunkline_session=; Max-Age=0; Path=\/; HttpOnly/);
  expect(await current(cookie)).toBeNull();
  expect(await current(other)).not.toBeNull();
  expect((await signOut(cookie)).status).toBe(401);
});

test('signing in again ends the session that the browser had', async () => {
  const cookie = await admin.openSession();
  await admin.call('session.signIn', { type: 'mutation', input: OWNER, cookie });
  expect(await current(cookie)).toBeNull();
});

test('a session lives 14 days and not a moment longer', async () => {
  const cookie = await admin.openSession();
  const days = `select extract(epoch from max(expires_at - created_at)) / 86400 as days from admin.sessions`;
  expect(Number((await database.owner.query(days)).rows[0].days)).toBe(14);

  await database.owner.query(
    `update admin.sessions set created_at = now() - interval '15 days', expires_at = now() - interval '1 second'`,
  );
  expect(await current(cookie)).toBeNull();
  const { status } = await admin.call('projects.list', { type: 'query', cookie, input: {} });
  expect(status).toBe(401);
  await admin.openSession();
  const { rows } = await database.owner.query('select count(*)::int as left from admin.sessions');
  expect(rows).toEqual([{ left: 1 }]);
});

test('a session notes its last use once a minute at most', async () => {
  const cookie = await admin.openSession();
  const seen = async () =>
    (await database.owner.query('select max(last_seen_at) as at from admin.sessions')).rows[0].at;
  const move = (seconds: number) =>
    database.owner.query(
      'update admin.sessions set last_seen_at = last_seen_at - make_interval(secs => $1)',
      [seconds],
    );
  await move(LAST_SEEN_SECONDS - 10);
  const young = await seen();
  await current(cookie);
  expect(await seen()).toEqual(young);
  await move(11);
  const old = await seen();
  await current(cookie);
  expect((await seen()).getTime()).toBeGreaterThan(old.getTime());
});

test('401: a cookie of another installation opens nothing', async () => {
  const { rows } = await database.owner.query('select person_id from admin.people');
  const keys = new Keys(Buffer.alloc(32, 7));
  const { token, proof } = await openSession({ ...database.deps, keys }, rows[0].person_id);
  const cookie = `trunkline_session=${token}.${proof}`;
  const { status } = await admin.call('projects.list', { type: 'query', cookie, input: {} });
  expect(status).toBe(401);
});

/** As bytes on the wire: fetch adds headers of its own. */
const post = (cookie: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', ...inHalves(cookie), ...headers };
    const sent = request(`${api.url}/admin/trpc/session.signOut`, { method: 'POST', headers: all });
    sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', reject);
    sent.end('{}');
  });

test('403: a change with a cookie says where it comes from, or is refused', async () => {
  const cookie = await admin.openSession();
  expect(await post(cookie, {})).toBe(403);
  expect(await post(cookie, { 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await post(cookie, { 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await current(cookie)).not.toBeNull();
  expect(await post(cookie, { 'sec-fetch-site': 'same-origin' })).toBe(200);
});

test('session fixation: a token that somebody planted in the browser is never adopted', async () => {
  const planted = `trunkline_session=${'A'.repeat(43)}`;
  const { headers, body } = await admin.call('session.signIn', {
    type: 'mutation',
    input: OWNER,
    cookie: planted,
  });
  const cookie = sessionOf(headers.getSetCookie(), body);
  expect(cookie).not.toBe(planted);
  expect(await current(planted)).toBeNull();
  expect(await current(cookie)).not.toBeNull();
});
