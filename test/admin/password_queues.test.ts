import { expect, test } from 'vitest';
import {
  KNOWN_AT_ONCE_MAX,
  makePasswordQueues,
  PASSWORDS_WAITING_MAX,
  STRANGERS_AT_ONCE_MAX,
} from '../../src/admin/password_queues.ts';
import { Resources } from '../../src/base/resources.ts';

const queues = () => makePasswordQueues({ resources: new Resources() });

/** Work that ends when the test says so, and how much of it was under way at most. */
const makeWork = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen = { atOnce: 0, most: 0 };
  const work = async () => {
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    await promise;
    seen.atOnce -= 1;
    return 'person';
  };
  return { work, resolve, seen };
};

test.each([
  ['strangers', STRANGERS_AT_ONCE_MAX],
  ['known', KNOWN_AT_ONCE_MAX],
] as const)(
  '%s: %i passwords are checked together, 20 wait, one more is refused',
  async (name, atOnce) => {
    const queue = queues()[name];
    const { work, resolve, seen } = makeWork();
    const taken = Array.from({ length: atOnce + PASSWORDS_WAITING_MAX }, () => queue.run(work));
    await expect(queue.run(work)).rejects.toMatchObject({ reason: 'overloaded' });
    resolve();
    expect(new Set(await Promise.all(taken))).toEqual(new Set(['person']));
    expect(seen.most).toBe(atOnce);
    expect(await queue.run(work)).toBe('person');
  },
);

test('a flood of sign-ins by strangers does not delay people with a session or a known device', async () => {
  const { strangers, known } = queues();
  const { work, resolve } = makeWork();
  const flood = Array.from({ length: STRANGERS_AT_ONCE_MAX + PASSWORDS_WAITING_MAX }, () =>
    strangers.run(work),
  );
  await expect(strangers.run(work)).rejects.toMatchObject({ reason: 'overloaded' });
  expect(await known.run(() => Promise.resolve('confirmed'))).toBe('confirmed');
  resolve();
  await Promise.all(flood);
});
