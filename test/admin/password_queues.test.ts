import { expect, test } from 'vitest';
import {
  KNOWN_AT_ONCE_MAX,
  makePasswordQueues,
  PASSWORDS_WAITING_MAX,
  PLACES_PER_ORIGIN_MAX,
  PLACES_PER_PERSON_MAX,
  STRANGERS_AT_ONCE_MAX,
} from '../../src/admin/password_queues.ts';
import { Resources } from '../../src/base/resources.ts';

const queues = () => makePasswordQueues({ resources: new Resources() });
const OVERLOADED = { reason: 'overloaded' };

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
    const taken = Array.from({ length: atOnce + PASSWORDS_WAITING_MAX }, (_, at) =>
      queue.run(`line ${at}`, work),
    );
    await expect(queue.run('one more', work)).rejects.toMatchObject(OVERLOADED);
    resolve();
    expect(new Set(await Promise.all(taken))).toEqual(new Set(['person']));
    expect(seen.most).toBe(atOnce);
    expect(await queue.run('one more', work)).toBe('person');
  },
);

test('a flood of sign-ins by strangers does not delay people with a session or a known device', async () => {
  const { strangers, known } = queues();
  const { work, resolve } = makeWork();
  const flood = Array.from({ length: STRANGERS_AT_ONCE_MAX + PASSWORDS_WAITING_MAX }, (_, at) =>
    strangers.run(`origin ${at}`, work),
  );
  await expect(strangers.run('one more', work)).rejects.toMatchObject(OVERLOADED);
  expect(await known.run('ann', () => Promise.resolve('confirmed'))).toBe('confirmed');
  resolve();
  await Promise.all(flood);
});

test.each([
  ['known', 'person', PLACES_PER_PERSON_MAX],
  ['strangers', 'origin', PLACES_PER_ORIGIN_MAX],
] as const)(
  'attack: of the places of the %s, one %s has %i; everyone else finds a place',
  async (name, line, places) => {
    const queue = queues()[name];
    const { work, resolve } = makeWork();
    const flood = Array.from({ length: 50 }, () => queue.run(line, work));
    const refused = Promise.allSettled(flood.slice(places));
    const others = Array.from({ length: 5 }, (_, at) => queue.run(`other ${at}`, work));
    for (const { status, reason } of (await refused) as PromiseRejectedResult[])
      expect([status, reason]).toEqual(['rejected', expect.objectContaining(OVERLOADED)]);
    resolve();
    expect(new Set(await Promise.all([...flood.slice(0, places), ...others]))).toEqual(
      new Set(['person']),
    );
    // A line that has finished has its places again.
    expect(await Promise.all([queue.run(line, work), queue.run(line, work)])).toHaveLength(2);
  },
);

test('work that fails gives its place to the next', async () => {
  const { known } = queues();
  const fails = () => Promise.reject(new Error('Postgres is away'));
  for (let at = 0; at <= PASSWORDS_WAITING_MAX; at += 1)
    await expect(known.run('ann', fails)).rejects.toThrow('Postgres is away');
  expect(await known.run('ann', () => Promise.resolve('confirmed'))).toBe('confirmed');
});
