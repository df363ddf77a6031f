// The attack: whoever knows an owner's address enters wrong passwords until nobody can use the account.
import { beforeEach, describe, expect, test } from 'vitest';
import { DEVICES_PER_ACCOUNT_MAX } from '../../src/admin/devices.ts';
import { keepAdministrator } from '../../src/admin/people.ts';
import {
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
  SIGN_INS_PER_ACCOUNT_MAX,
} from '../../src/admin/throttle.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { consoleAt, cookiesOf, errorOf } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
/** Behind one proxy, so that each attempt can come from another address. */
const at = consoleAt(database, { TRUSTED_PROXIES: '1' });

const OFFICE = '192.0.2.10';
const host = () => `127.0.0.1:${at.port}`;
type From = { address?: string; cookie?: string };
const headersOf = ({ address = OFFICE, cookie }: From) => ({
  host: host(),
  'x-forwarded-for': address,
  ...(cookie === undefined ? {} : { cookie, origin: `http://${host()}` }),
});
/** Signs in as the Console does: its browser becomes a known device. */
const signIn = (email: string, password: string, from: From = {}) =>
  at.call('session.signIn', { email, password, remember_device: true }, headersOf(from));
/** Signs in; returns the session and the device cookie. */
const open = async (email: string, from: From = {}) => {
  const answer = await signIn(email, PASSWORD, from);
  const session = sessionOf(answer.headers['set-cookie'] ?? [], JSON.parse(answer.text));
  return { session, device: cookiesOf(answer)['trunkline_device'] ?? '' };
};

let projectId: string;
let owner: { email: string; personId: string; session: string; device: string };
beforeEach(async () => {
  await database.owner.query('delete from base.rate_limit_counters');
  ({ project_id: projectId } = await createProject(database.deps, 'shop'));
  const { email, personId } = await makePerson(database, { projectId, role: 'owner' });
  owner = { email, personId, ...(await open(email)) };
});

/** Enters so many wrong passwords, each from an address of its own or all from one. */
const attack = async (count: number, addressOf: (n: number) => string): Promise<void> => {
  for (let n = 0; n < count; n += 1)
    expect((await signIn(owner.email, 'not the password', { address: addressOf(n) })).status).toBe(
      401,
    );
};
const issueKey = (password: string) =>
  at.call(
    'keys.issue',
    { projectId, kind: 'server', password },
    headersOf({ cookie: owner.session }),
  );

describe('ten wrong passwords from one address', () => {
  test('do not lock the owner out at another address', async () => {
    await attack(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, () => '198.51.100.1');
    const attacker = await signIn(owner.email, PASSWORD, { address: '198.51.100.1' });
    expect([attacker.status, errorOf(attacker).message]).toEqual([429, 'too_many_sign_ins']);
    expect((await signIn(owner.email, PASSWORD)).status).toBe(200);
  });

  test('do not block the confirmation of the password in an open session', async () => {
    await attack(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, () => OFFICE);
    expect((await issueKey(PASSWORD)).status).toBe(200);
  });

  test('do not lock out a browser that signed in before, even from the same address', async () => {
    await attack(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, () => OFFICE);
    expect((await signIn(owner.email, PASSWORD)).status).toBe(429);
    expect((await signIn(owner.email, PASSWORD, { cookie: owner.device })).status).toBe(200);
  });
});

test(
  'a botnet is stopped, and the owner still signs in with a known browser',
  { timeout: 60_000 },
  async () => {
    await attack(SIGN_INS_PER_ACCOUNT_MAX, (n) => `203.0.113.${n}`);
    expect((await signIn(owner.email, PASSWORD, { address: '100.64.0.1' })).status).toBe(429);
    expect((await signIn(owner.email, PASSWORD, { cookie: owner.device })).status).toBe(200);
    expect((await issueKey(PASSWORD)).status).toBe(200);
  },
);

test('wrong confirmations in a session that was stolen do not block signing in', async () => {
  for (let n = 0; n < 10; n += 1) expect((await issueKey('not the password')).status).toBe(403);
  expect((await issueKey(PASSWORD)).status).toBe(429);
  expect((await signIn(owner.email, PASSWORD)).status).toBe(200);
});

test('an invitation cannot be used to try the passwords of the account that has its address', async () => {
  const { cookie } = await makePerson(database, { projectId, role: 'owner' });
  const other = await createProject(database.deps, 'other');
  await database.owner.query(`insert into admin.members values ($1, $2, 'owner', now())`, [
    other.project_id,
    (
      await database.owner.query(
        'select person_id from admin.sessions order by created_at desc limit 1',
      )
    ).rows[0].person_id,
  ]);
  const invited = await at.call(
    'invitations.invite',
    { projectId: other.project_id, email: owner.email, role: 'viewer' },
    headersOf({ cookie }),
  );
  const token = (
    JSON.parse(invited.text) as { result: { data: { path: string } } }
  ).result.data.path.split('#')[1];
  const accept = (password: string) =>
    at.call('invitations.accept', { token, password }, headersOf({ address: '198.51.100.9' }));
  for (let n = 0; n < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; n += 1)
    expect((await accept('not the password')).status).toBe(401);
  expect((await accept(PASSWORD)).status).toBe(429);
});

describe('the device of a browser', () => {
  const devices = async () =>
    (
      await database.owner.query(
        `select device_hash from admin.known_devices where person_id = $1`,
        [owner.personId],
      )
    ).rows as { device_hash: Buffer }[];
  /** Whether this browser has an allowance of its own while strangers have none. */
  const isKnown = async (device: string) => {
    await database.owner.query('delete from base.rate_limit_counters');
    await attack(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, () => OFFICE);
    return (await signIn(owner.email, 'not the password', { cookie: device })).status === 401;
  };

  test('is a random token in an HttpOnly cookie, stored hashed', async () => {
    expect(owner.device).toMatch(/^trunkline_device=[\w-]{43}$/);
    const [row] = await devices();
    expect(row?.device_hash).toHaveLength(32);
    const { rows } = await database.owner.query('select d::text as row from admin.known_devices d');
    const token = owner.device.split('=')[1] ?? '';
    const raw = Buffer.from(token, 'base64url').toString('hex');
    expect(rows.filter(({ row: text }) => text.includes(token) || text.includes(raw))).toEqual([]);
    expect(await isKnown(owner.device)).toBe(true);
  });

  test('is unknown after its account changed the password elsewhere', async () => {
    const elsewhere = (await open(owner.email)).session;
    const changed = await at.call(
      'account.changePassword',
      { old_password: PASSWORD, new_password: 'another good password' },
      headersOf({ cookie: elsewhere }),
    );
    expect(changed.status).toBe(200);
    expect(await isKnown(owner.device)).toBe(false);
  });

  test('is unknown after its account signed out everywhere else, and stays known where it did that', async () => {
    const other = await open(owner.email);
    const from = headersOf({ cookie: `${other.session}; ${other.device}` });
    expect((await at.call('account.endOtherSessions', {}, from)).status).toBe(200);
    expect(await isKnown(owner.device)).toBe(false);
    expect(await isKnown(other.device)).toBe(true);
  });

  test('is unknown after an operator set the password', async () => {
    await keepAdministrator(database.deps, {
      email: owner.email,
      password: 'an operator set this',
    });
    expect(await devices()).toEqual([]);
  });

  test('that an attacker planted in a browser is worth nothing once its owner signs in', async () => {
    const attacker = await makePerson(database);
    const { device: planted } = await open(attacker.email);
    const { device } = await open(owner.email, { cookie: planted });
    expect(await isKnown(planted)).toBe(false);
    expect(await isKnown(device)).toBe(true);
  });

  test('is one of 20 of an account: the one that signed in longest ago is unknown', async () => {
    expect(DEVICES_PER_ACCOUNT_MAX).toBe(20);
    for (let n = 0; n < DEVICES_PER_ACCOUNT_MAX - 1; n += 1)
      await signIn(owner.email, PASSWORD, { address: `203.0.113.${n}` });
    expect(await devices()).toHaveLength(DEVICES_PER_ACCOUNT_MAX);
    expect(await isKnown(owner.device)).toBe(true);
    await signIn(owner.email, PASSWORD, { address: '203.0.113.200' });
    expect(await devices()).toHaveLength(DEVICES_PER_ACCOUNT_MAX);
    expect(await isKnown(owner.device)).toBe(false);
  });

  test('counts for 180 days after its last sign-in', async () => {
    const age = (days: number) =>
      database.owner.query(
        `update admin.known_devices set expires_at = signed_in_at + interval '180 days' - make_interval(days => $1)
        where person_id = $2`,
        [days, owner.personId],
      );
    expect(await isKnown(owner.device)).toBe(true);
    await age(179);
    expect(await isKnown(owner.device)).toBe(true);
    await age(181);
    expect(await isKnown(owner.device)).toBe(false);
  });

  test.each([
    'trunkline_device=',
    'trunkline_device=x',
    `trunkline_device=${newId()}`,
    `trunkline_device=${'A'.repeat(43)}`,
  ])('is not known by a made-up token: %s', async (device) => {
    expect(await isKnown(device)).toBe(false);
  });
});
