import { expect, test } from 'vitest';
import { rememberDevice } from '../../src/admin/devices.ts';
import {
  attemptConfirmation,
  attemptSignIn,
  CONFIRMATIONS_PER_SESSION_MAX,
  PASSWORD_WINDOW_SECONDS,
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
  SIGN_INS_PER_ACCOUNT_MAX,
  SIGN_INS_PER_DEVICE_MAX,
  SIGN_INS_PER_ORIGIN_MAX,
} from '../../src/admin/throttle.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';

const database = testDatabase();

const wrong = () => Promise.resolve(null);
const right = () => Promise.resolve('person');
const refused = { reason: 'too_many_sign_ins' };

let names = 0;
/** An account and an origin that no other test has. */
const fresh = () => {
  names += 1;
  return { email: `${newId()}@people.test`, address: `198.51.${names}.1` };
};
type Attempt = { email: string; address: string; deviceCookie?: string };
const signIn = ({ deviceCookie, ...who }: Attempt, check: () => Promise<string | null> = wrong) =>
  attemptSignIn(database.deps, { ...who, deviceCookie: deviceCookie ?? null }, check);
const wrongTimes = async (count: number, attemptOf: (at: number) => Attempt): Promise<void> => {
  for (let at = 0; at < count; at += 1) expect(await signIn(attemptOf(at))).toBeNull();
};
type Session = Parameters<typeof attemptConfirmation>[1];
const confirm = (session: Session, check: () => Promise<string | null> = wrong) =>
  attemptConfirmation(database.deps, session, check);
const session = (personId = newId()): Session => ({
  sessionHash: database.deps.keys.hash('session', newId()),
  personId,
});

/** An account with a browser that signed in before. */
const withDevice = async () => {
  const person = await makePerson(database);
  const { cookie } = await rememberDevice(database.deps, person, null);
  return { ...person, deviceCookie: cookie };
};

test('an account and an origin have 10 wrong sign-ins together, and then none', async () => {
  const who = fresh();
  expect(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX).toBe(10);
  await wrongTimes(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX - 1, () => who);
  expect(await signIn(who, right)).toBe('person');
  expect(await signIn(who)).toBeNull();
  await expect(signIn(who, right)).rejects.toMatchObject({
    ...refused,
    extras: {
      detail: expect.stringMatching(
        /^Too many wrong passwords for this account came from your network\. Try again in 15 minutes\./,
      ),
      retryAfterSeconds: PASSWORD_WINDOW_SECONDS,
    },
  });
});

test('a stranger with ten wrong passwords locks the account at their own origin alone', async () => {
  const who = fresh();
  await wrongTimes(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, () => who);
  await expect(signIn(who)).rejects.toMatchObject(refused);
  expect(await signIn({ ...who, address: fresh().address }, right)).toBe('person');
});

test('an origin has 30 wrong sign-ins for all accounts, and then none', async () => {
  const { address } = fresh();
  expect(SIGN_INS_PER_ORIGIN_MAX).toBe(30);
  await wrongTimes(SIGN_INS_PER_ORIGIN_MAX, () => ({ ...fresh(), address }));
  await expect(signIn({ ...fresh(), address })).rejects.toMatchObject(refused);
  expect(await signIn(fresh())).toBeNull();
});

test('a botnet has 50 wrong sign-ins for an account, from however many origins', async () => {
  const { email } = fresh();
  expect(SIGN_INS_PER_ACCOUNT_MAX).toBe(50);
  await wrongTimes(SIGN_INS_PER_ACCOUNT_MAX, () => ({ ...fresh(), email }));
  await expect(signIn({ ...fresh(), email }, right)).rejects.toMatchObject({
    ...refused,
    extras: { detail: expect.stringContaining('A browser that signed in to the account before') },
  });
});

test('an origin that is past its limit uses up no account', async () => {
  const { email, address } = fresh();
  await wrongTimes(SIGN_INS_PER_ORIGIN_MAX, () => ({ ...fresh(), address }));
  for (let at = 0; at <= SIGN_INS_PER_ACCOUNT_MAX; at += 1)
    await expect(signIn({ email, address })).rejects.toMatchObject(refused);
  expect(await signIn({ email, address: fresh().address }, right)).toBe('person');
});

test('a botnet that uses up an account does not lock out a browser that signed in before', async () => {
  const { email, deviceCookie } = await withDevice();
  await wrongTimes(SIGN_INS_PER_ACCOUNT_MAX, () => ({ ...fresh(), email }));
  await expect(signIn({ ...fresh(), email }, right)).rejects.toMatchObject(refused);
  expect(await signIn({ ...fresh(), email, deviceCookie }, right)).toBe('person');
});

test('a stranger behind the same address does not lock out a browser that signed in before', async () => {
  const { email, deviceCookie } = await withDevice();
  const { address } = fresh();
  await wrongTimes(SIGN_INS_PER_ORIGIN_MAX, () => ({ ...fresh(), address }));
  expect(await signIn({ email, address, deviceCookie }, right)).toBe('person');
});

test('a known device has 10 wrong sign-ins of its own, and takes nothing from others', async () => {
  const { email, deviceCookie } = await withDevice();
  expect(SIGN_INS_PER_DEVICE_MAX).toBe(10);
  await wrongTimes(SIGN_INS_PER_DEVICE_MAX, () => ({ ...fresh(), email, deviceCookie }));
  await expect(signIn({ ...fresh(), email, deviceCookie }, right)).rejects.toMatchObject(refused);
  expect(await signIn({ ...fresh(), email }, right)).toBe('person');
});

test('a device of one account is a stranger to every other account', async () => {
  const { deviceCookie } = await withDevice();
  const victim = await withDevice();
  await wrongTimes(SIGN_INS_PER_ACCOUNT_MAX, () => ({ ...fresh(), email: victim.email }));
  await expect(signIn({ ...fresh(), email: victim.email, deviceCookie })).rejects.toMatchObject(
    refused,
  );
});

test('a session has 10 wrong confirmations of its own, and every other session has its own', async () => {
  const personId = newId();
  const [one, other] = [session(personId), session(personId)];
  expect(CONFIRMATIONS_PER_SESSION_MAX).toBe(10);
  for (let at = 0; at < CONFIRMATIONS_PER_SESSION_MAX; at += 1)
    expect(await confirm(one)).toBeNull();
  await expect(confirm(one, right)).rejects.toMatchObject({
    reason: 'too_many_confirmations',
    extras: { detail: expect.stringContaining('Try again in 15 minutes, or sign out') },
  });
  expect(await confirm(other, right)).toBe('person');
});

test('attempts made at once are counted before any is answered', async () => {
  const who = fresh();
  const attempts = Array.from({ length: SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX + 5 }, () =>
    signIn(who),
  );
  const settled = await Promise.allSettled(attempts);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(5);
});

test('right sign-ins count for nothing', async () => {
  const who = fresh();
  for (let count = 0; count <= SIGN_INS_PER_ORIGIN_MAX; count += 1)
    expect(await signIn(who, right)).toBe('person');
});

test('sign-ins that could not be looked at count for nothing', async () => {
  const who = fresh();
  const away = () => Promise.reject(new Error('Postgres is away'));
  for (let count = 0; count <= SIGN_INS_PER_ORIGIN_MAX; count += 1)
    await expect(signIn(who, away)).rejects.toThrow('Postgres is away');
  expect(await signIn(who, right)).toBe('person');
});

test('an account is the same in upper and lower case, and an IPv6 network is one origin', async () => {
  const email = `${newId()}@people.test`;
  const attemptOf = (at: number) => ({
    email: at % 2 === 0 ? email : email.toUpperCase(),
    address: `2001:db8:0:${names}::${at}`,
  });
  await wrongTimes(SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX, attemptOf);
  await expect(signIn(attemptOf(99))).rejects.toMatchObject(refused);
});
