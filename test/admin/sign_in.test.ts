import { expect, test } from 'vitest';
import { hashPassword, NOBODYS_HASH } from '../../src/admin/password.ts';
import { keepAdministrator } from '../../src/admin/people.ts';
import {
  PASSWORD_WINDOW_SECONDS,
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
} from '../../src/admin/throttle.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

test('200: the right password opens a session in a cookie that only our pages send', async () => {
  const input = { ...OWNER, remember_device: true };
  const { status, headers, body } = await admin.call('session.signIn', { type: 'mutation', input });
  const proof = expect.stringMatching(/^[\w-]{43}$/) as string;
  expect(body).toEqual({ result: { data: { signed_in: true, proof } } });
  expect(status).toBe(200);
  const cookies = headers.getSetCookie().map((cookie) => {
    const [token = '', ...attributes] = cookie.split('; ');
    expect(token).toMatch(/^\w+=[\w-]{43}$/);
    return [token.split('=')[0], ...attributes.toSorted()];
  });
  expect(cookies).toEqual([
    ['trunkline_session', 'HttpOnly', 'Max-Age=1209600', 'Path=/', 'SameSite=Strict'],
    ['trunkline_device', 'HttpOnly', 'Max-Age=15552000', 'Path=/', 'SameSite=Strict'],
  ]);
  expect(headers.get('cache-control')).toBe('no-store');
});

test('200: an address is the same in upper and lower case', async () => {
  const { status } = await admin.signIn({ ...OWNER, email: ' Owner@TRUNKLINE.test' });
  expect(status).toBe(200);
});

test('401 wrong_login: a wrong password and an unknown address get one answer', async () => {
  const wrong = await admin.signIn({ ...OWNER, password: 'wrong horse battery' });
  const unknown = await admin.signIn({ ...OWNER, email: 'nobody@trunkline.test' });
  expect(wrong.status).toBe(401);
  expect(wrong.body.error).toMatchObject({
    message: 'wrong_login',
    data: { code: 'UNAUTHORIZED' },
  });
  expect(wrong.headers.getSetCookie()).toEqual([]);
  const withoutId = ({ body }: typeof wrong) => ({
    ...body.error,
    data: { ...body.error.data, request_id: null },
  });
  expect(withoutId(unknown)).toEqual(withoutId(wrong));
  expect(unknown.status).toBe(401);
});

test.each([
  ['an address with U+0000', { email: 'owner\0@trunkline.test' }, '/email'],
  ['half of a character', { password: 'wrong \ud800 horse' }, '/password'],
])('400 invalid_request: %s', async (_, input, path) => {
  const { status, body } = await admin.signIn({ ...OWNER, ...input });
  expect(status).toBe(400);
  const message = 'must be well-formed Unicode without U+0000';
  expect(body.error.data.issues).toEqual([{ path, message }]);
});

test.each([
  ['many faults deep inside', [1_500, 25_000, '\0']],
  ['one fault deeper than a stack', [15_000, 1, '\0']],
] as const)(
  'attack: a sign-in with %s costs little',
  { timeout: 3_000 },
  async (_, [depth, count, text]) => {
    const list = `${'['.repeat(depth)}${Array(count).fill(JSON.stringify(text)).join()}${']'.repeat(depth)}`;
    const response = await fetch(`${api.url}/admin/trpc/session.signIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: api.url },
      body: `{"email":${list},"password":"x"}`,
    });
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(100_000);
  },
);

test('an unknown address is compared at the same cost as a known one', async () => {
  const cost = (hash: string) => /^scrypt\$N=\d+,r=\d+,p=\d+\$/.exec(hash)?.[0];
  const kept = { ...OWNER, email: 'kept@trunkline.test' };
  await keepAdministrator(database.deps, kept);
  const stored = await database.owner.query(
    'select password_hash from admin.people where email = $1',
    [kept.email],
  );
  expect(cost(NOBODYS_HASH)).toBe(cost(await hashPassword(OWNER.password)));
  expect(cost(stored.rows[0].password_hash)).toBe(cost(NOBODYS_HASH));
  expect(NOBODYS_HASH).toHaveLength(stored.rows[0].password_hash.length);
});

test.each([
  ['no password', { email: OWNER.email }],
  ['an unknown member', { ...OWNER, remember: true }],
  ['a password of 201 characters', { ...OWNER, password: 'x'.repeat(201) }],
  ['an address of 255 characters', { ...OWNER, email: 'x'.repeat(255) }],
  ['a password that is no text', { ...OWNER, password: { length: 12 } }],
])('400 invalid_request: %s', async (_, input) => {
  const { status, body } = await admin.call('session.signIn', { type: 'mutation', input });
  expect(status).toBe(400);
  expect(body.error.message).toBe('invalid_request');
  expect(body.error.data.issues).toHaveLength(1);
});

test('415: a form of another site cannot post a sign-in', async () => {
  const { status } = await api.call('POST', '/admin/trpc/session.signIn', {
    body: JSON.stringify(OWNER),
    headers: { 'content-type': 'text/plain' },
  });
  expect(status).toBe(415);
});

test('a new password ends the sessions that the old one opened', async () => {
  const other = { email: 'second@trunkline.test', password: 'a first password' };
  await keepAdministrator(database.deps, other);
  const { headers, body } = await admin.signIn(other);
  const cookie = sessionOf(headers.getSetCookie(), body);
  await keepAdministrator(database.deps, other);
  const before = await admin.call('session.current', { type: 'query', cookie });
  expect(before.body.result.data.person).toEqual({ email: other.email, is_admin: true });

  await keepAdministrator(database.deps, { ...other, password: 'a second password' });
  const after = await admin.call('session.current', { type: 'query', cookie });
  expect(after.body.result.data.person).toBeNull();
  expect((await admin.signIn(other)).status).toBe(401);
});

test('429 too_many_sign_ins: after ten wrong passwords not even the right one, from there', async () => {
  const person = { email: 'third@trunkline.test', password: 'the right password' };
  await makePerson(database, person);
  expect(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX).toBe(10);

  const wrong = { ...person, password: 'some wrong password' };
  for (let count = 1; count < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; count += 1) {
    expect((await admin.signIn(wrong)).status).toBe(401);
  }
  // A right one at the bound is taken, and counts for nothing.
  expect((await admin.signIn(person)).status).toBe(200);
  expect((await admin.signIn(wrong)).status).toBe(401);

  const { status, headers, body } = await admin.signIn(person);
  expect(status).toBe(429);
  expect(body.error).toMatchObject({
    message: 'too_many_sign_ins',
    data: { code: 'TOO_MANY_REQUESTS' },
  });
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(PASSWORD_WINDOW_SECONDS);
  expect(body.error.data.detail).toContain(`Try again in ${Math.ceil(seconds / 60)} minutes`);
  expect((await admin.signIn()).status).toBe(200);
});

test('an account that does not exist is refused after as many wrong passwords, with the same words', async () => {
  const refusals = [];
  for (const email of ['fourth@trunkline.test', 'nobody-at-all@trunkline.test']) {
    if (email.startsWith('fourth')) await makePerson(database, { email });
    // A process of its own for each would be slow: the origin's limit of 30 has room for both.
    const wrong = { email, password: 'some wrong password' };
    for (let count = 0; count < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; count += 1)
      expect((await admin.signIn(wrong)).status).toBe(401);
    await database.owner.query('delete from base.rate_limit_counters where limit_name = $1', [
      'sign_ins_per_origin',
    ]);
    const { status, body } = await admin.signIn(wrong);
    refusals.push([status, body.error.message, body.error.data.detail]);
  }
  expect(refusals[1]).toEqual(refusals[0]);
});
