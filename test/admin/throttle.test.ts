import { expect, test } from 'vitest';
import {
  SIGN_INS_AT_ONCE_MAX,
  SIGN_INS_PER_ACCOUNT_MAX,
  SIGN_INS_PER_ADDRESS_MAX,
  SIGN_INS_WAITING_MAX,
  Throttle,
} from '../../src/admin/throttle.ts';

const wrong = () => Promise.resolve(null);
const right = () => Promise.resolve('person');
const refused = { reason: 'too_many_sign_ins' };

test('an address has 30 wrong sign-ins for whichever accounts, and then none', async () => {
  const throttle = new Throttle();
  const attempt = (count: number, address: string) =>
    throttle.attempt({ email: `${count}@example.com`, address }, wrong);
  expect(SIGN_INS_PER_ADDRESS_MAX).toBe(30);
  for (let count = 0; count < SIGN_INS_PER_ADDRESS_MAX; count += 1) {
    expect(await attempt(count, '192.0.2.1')).toBeNull();
  }
  await expect(attempt(100, '192.0.2.1')).rejects.toMatchObject(refused);
  expect(await attempt(101, '192.0.2.2')).toBeNull();
});

test('attempts made at once are counted before any is answered', async () => {
  const throttle = new Throttle();
  const attempts = Array.from({ length: SIGN_INS_PER_ACCOUNT_MAX + 1 }, (_, at) =>
    throttle.attempt({ email: 'ann@example.com', address: `192.0.2.${at}` }, wrong),
  );
  const settled = await Promise.allSettled(attempts);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});

test('right sign-ins count for nothing', async () => {
  const throttle = new Throttle();
  const attempt = { email: 'ann@example.com', address: '192.0.2.1' };
  for (let count = 0; count <= SIGN_INS_PER_ADDRESS_MAX; count += 1) {
    expect(await throttle.attempt(attempt, right)).toBe('person');
  }
});

test('sign-ins that could not be looked at count for nothing', async () => {
  const throttle = new Throttle();
  const attempt = { email: 'ann@example.com', address: '192.0.2.1' };
  const away = () => Promise.reject(new Error('Postgres is away'));
  for (let count = 0; count <= SIGN_INS_PER_ADDRESS_MAX; count += 1)
    await expect(throttle.attempt(attempt, away)).rejects.toThrow('Postgres is away');
  expect(await throttle.attempt(attempt, right)).toBe('person');
});

test('a few passwords are looked at together, a few more wait, and the rest is refused', async () => {
  const throttle = new Throttle();
  const { promise, resolve } = Promise.withResolvers<void>();
  let atOnce = 0;
  let most = 0;
  const slow = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await promise;
    atOnce -= 1;
    return 'person';
  };
  const attempts = Array.from(
    { length: SIGN_INS_AT_ONCE_MAX + SIGN_INS_WAITING_MAX + 1 },
    (_, at) => throttle.attempt({ email: `${at}@example.com`, address: `192.0.2.${at}` }, slow),
  );
  const last = attempts.pop();
  await expect(last).rejects.toMatchObject(refused);
  resolve();
  await Promise.all(attempts);
  expect(most).toBe(SIGN_INS_AT_ONCE_MAX);
});
