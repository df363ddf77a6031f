// Attacks on the allowance of a browser that signed in before: to get more guesses by it, or to take it away.
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { DEVICES_PER_ACCOUNT_MAX } from '../../src/admin/devices.ts';
import { hashPassword } from '../../src/admin/password.ts';
import {
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
  SIGN_INS_PER_ACCOUNT_MAX,
  SIGN_INS_PER_DEVICE_MAX,
} from '../../src/admin/throttle.ts';
import { LOOKUP_WINDOW_SECONDS } from '../../src/base/token_lookups.ts';
import { createProject } from '../../src/projects/projects.ts';
import { consoleAt, cookiesOf, errorOf } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { makeUpKey } from '../support/made_up_key.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
const UNKNOWN_KEYS_PER_SECOND = 1;
/** Behind one proxy, so that each attempt can come from another address. */
const at = consoleAt(database, {
  TRUSTED_PROXIES: '1',
  RATE_LIMIT_UNKNOWN_KEYS: String(UNKNOWN_KEYS_PER_SECOND),
});

const OFFICE = '192.0.2.10';
type From = { address?: string; cookie?: string };
const headersOf = ({ address = OFFICE, cookie }: From) => ({
  host: `127.0.0.1:${at.port}`,
  'x-forwarded-for': address,
  ...(cookie === undefined ? {} : { cookie, origin: `http://127.0.0.1:${at.port}` }),
});
const signIn = (email: string, password: string, from: From = {}, more = {}) =>
  at.call('session.signIn', { email, password, ...more }, headersOf(from));
const remembered = { remember_device: true };

/** Signs in as the Console does; returns the session and the device cookie. */
const open = async (email: string, from: From = {}) => {
  const answer = await signIn(email, PASSWORD, from, remembered);
  const session = sessionOf(answer.headers['set-cookie'] ?? [], JSON.parse(answer.text));
  return { session, device: cookiesOf(answer)['trunkline_device'] ?? '' };
};
const isWrong = async (email: string, device: string): Promise<boolean> =>
  (await signIn(email, 'not the password', { cookie: device })).status === 401;
/** Uses up what strangers have, at the office and everywhere. */
const blockStrangers = async ({ email }: SignedInPerson): Promise<void> => {
  for (let n = 0; n < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; n += 1)
    await signIn(email, 'not the password');
  for (let n = 0; n < SIGN_INS_PER_ACCOUNT_MAX; n += 1)
    await signIn(email, 'not the password', { address: `203.0.113.${n}` });
  expect((await signIn(email, PASSWORD)).status).toBe(429);
};

beforeEach(() => database.owner.query('delete from base.rate_limit_counters'));

describe('a browser that two people share', () => {
  test('attack: signing in as oneself brings no new guesses for the other account', async () => {
    const [ann, bob] = [await makePerson(database), await makePerson(database)];
    let { device } = await open(bob.email);
    let guesses = 0;
    for (let round = 0; round < 4; round += 1) {
      while (guesses < 100 && (await isWrong(bob.email, device))) guesses += 1;
      ({ device } = await open(ann.email, { cookie: device }));
    }
    expect(guesses).toBe(SIGN_INS_PER_DEVICE_MAX);
  });

  test('stays a known device of both accounts, in either order of sign-ins', async () => {
    const [ann, bob] = [await makePerson(database), await makePerson(database)];
    let { device } = await open(bob.email);
    for (const { email } of [ann, bob, ann]) ({ device } = await open(email, { cookie: device }));
    for (const one of [ann, bob]) {
      await blockStrangers(one);
      expect((await signIn(one.email, PASSWORD, { cookie: device })).status).toBe(200);
    }
  }, 60_000);
});

describe('clients that keep no device', () => {
  test('attack: twenty sign-ins by programs leave the browser of the owner known', async () => {
    const owner = await makePerson(database);
    const { device } = await open(owner.email);
    expect(DEVICES_PER_ACCOUNT_MAX).toBe(20);
    for (let n = 0; n < DEVICES_PER_ACCOUNT_MAX; n += 1) {
      const answer = await signIn(owner.email, PASSWORD, { address: `203.0.113.${n}` });
      expect(Object.keys(cookiesOf(answer))).toEqual(['trunkline_session']);
    }
    await blockStrangers(owner);
    expect((await signIn(owner.email, PASSWORD, { cookie: device })).status).toBe(200);
  }, 60_000);
});

describe('a session that its owner ends', () => {
  test('attack: its browser has no guesses left of its own', async () => {
    const owner = await makePerson(database);
    const [here, elsewhere] = [await open(owner.email), await open(owner.email)];
    const { rows } = await database.owner.query(
      `select session.session_id from admin.sessions as session
      join admin.known_devices as device using (device_id)
      where session.person_id = $1 order by session.created_at`,
      [owner.personId],
    );
    const input = { sessionId: rows.at(-1).session_id };
    const ended = await at.call('account.endSession', input, headersOf({ cookie: here.session }));
    expect(ended.status).toBe(200);
    await blockStrangers(owner);
    expect(await isWrong(owner.email, elsewhere.device)).toBe(false);
    expect((await signIn(owner.email, PASSWORD, { cookie: here.device })).status).toBe(200);
  }, 60_000);

  test('leaves the devices of every other session and of every other person known', async () => {
    const [owner, other] = [await makePerson(database), await makePerson(database)];
    await open(other.email);
    const { session } = await open(owner.email);
    const before = await database.owner.query('select device_id from admin.known_devices');
    const { rows } = await database.owner.query(
      'select session_id from admin.sessions where person_id = $1 and device_id is null',
      [owner.personId],
    );
    const input = { sessionId: rows[0].session_id };
    const from = headersOf({ cookie: session });
    expect((await at.call('account.endSession', input, from)).status).toBe(200);
    const after = await database.owner.query('select device_id from admin.known_devices');
    expect(after.rowCount).toBe(before.rowCount);
  });
});

describe('a flood from the same address', () => {
  const post = (headers: Record<string, string>) =>
    at.ask('POST', '/v1/events', { ...headersOf({}), ...headers }, { event: 'made' });
  const FLOOD = 3 * UNKNOWN_KEYS_PER_SECOND * LOOKUP_WINDOW_SECONDS;

  test('attack: unknown keys, sessions and devices shut out no known device, session or key', async () => {
    const owner = await makePerson(database);
    const { device, session } = await open(owner.email);
    await blockStrangers(owner);
    const { server_key } = await createProject(database.deps, 'shop');
    const statuses = new Set<number>();
    for (let n = 0; n < FLOOD; n += 1) {
      const token = randomBytes(32).toString('base64url');
      const cookie = `trunkline_session=${token}.${token}; trunkline_device=${token}`;
      for (const kind of ['server', 'publishable', 'hook'] as const)
        statuses.add((await post({ authorization: `Bearer ${makeUpKey(kind)}` })).status);
      expect((await at.call('account.sessions', {}, headersOf({ cookie }))).status).not.toBe(429);
      await at.call('invitations.open', { token }, headersOf({}));
    }
    expect(statuses).toEqual(new Set([401, 429]));
    const refused = await signIn(owner.email, PASSWORD);
    expect(errorOf(refused).detail).toContain(
      'A browser that signed in to the account before can still sign in.',
    );
    expect((await signIn(owner.email, PASSWORD, { cookie: device })).status).toBe(200);
    const asked = await at.ask(
      'GET',
      '/admin/trpc/account.sessions',
      headersOf({ cookie: session }),
    );
    expect(asked.status).toBe(200);
    expect((await post({ authorization: `Bearer ${server_key}` })).status).toBe(400);
  }, 60_000);

  test('attack: a member who confirms without end blocks no sign-in of a known browser', async () => {
    const [member, owner] = [await makePerson(database), await makePerson(database)];
    const { device } = await open(owner.email);
    const sessions = await Promise.all(Array.from({ length: 4 }, () => open(member.email)));
    // Each check takes as long as it does outside of tests.
    await database.owner.query('update admin.people set password_hash = $2 where person_id = $1', [
      member.personId,
      await hashPassword(PASSWORD),
    ]);
    const input = { old_password: 'not the password', new_password: 'another good password' };
    const flood = sessions.flatMap(({ session }) =>
      Array.from({ length: 8 }, () =>
        at.call('account.changePassword', input, headersOf({ cookie: session })),
      ),
    );
    const signedIn = await Promise.all(
      [1, 2].map(() => signIn(owner.email, PASSWORD, { cookie: device })),
    );
    expect(signedIn.map(({ status }) => status)).toEqual([200, 200]);
    const refused = (await Promise.all(flood)).map((answer) => errorOf(answer).message);
    expect(refused).toContain('overloaded');
  });
});
