import { expect, test } from 'vitest';
import { consume, describeWait, slotOf } from '../../src/base/rate_limits.ts';
import type { Charge } from '../../src/base/rate_limits.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const MAX = 5;
const WINDOW_SECONDS = 900;

let names = 0;
/** A limit that no other test has. */
const charge = (max = MAX, key = newId()): Charge => {
  names += 1;
  return { limit: { name: `limit_${names}`, max, windowSeconds: WINDOW_SECONDS }, key };
};
const take = async (charges: Charge[], cost = 1) =>
  (await consume(database.deps.db, charges, cost)).exceeded;
const usedOf = async ({ limit, key }: Charge): Promise<number> =>
  (
    await database.owner.query(
      'select used from base.rate_limit_counters where limit_name = $1 and counter_key = $2',
      [limit.name, key],
    )
  ).rows[0]?.used ?? 0;
const times = (count: number) => Array.from({ length: count });

test('a limit takes what it is, and refuses one more with the time until its window ends', async () => {
  const one = charge();
  for (const _ of times(MAX)) expect(await take([one])).toBeNull();
  const exceeded = await take([one]);
  expect(exceeded?.limit).toEqual(one.limit);
  expect(exceeded?.retryAfterSeconds).toBeGreaterThan(WINDOW_SECONDS - 30);
  expect(exceeded?.retryAfterSeconds).toBeLessThanOrEqual(WINDOW_SECONDS);
  expect(await usedOf(one)).toBe(MAX);
});

test('charges made at once by several processes never pass a limit', async () => {
  const [one, other] = [charge(), charge(MAX + 3)];
  const taken = await Promise.all(
    // In both orders: whoever locks one counter never waits for the other the wrong way round.
    times(40).map((_, at) => take(at % 2 === 0 ? [one, other] : [other, one])),
  );
  expect(taken.filter((exceeded) => exceeded === null)).toHaveLength(MAX);
  expect([await usedOf(one), await usedOf(other)]).toEqual([MAX, MAX]);
});

test('what one limit refuses is charged to none, and the first without room is named', async () => {
  const [first, second, third] = [charge(9), charge(1), charge(1)];
  expect(await take([first, second, third])).toBeNull();
  expect((await take([first, second, third]))?.limit.name).toBe(second.limit.name);
  expect((await take([third, second, first]))?.limit.name).toBe(third.limit.name);
  expect(await usedOf(first)).toBe(1);
});

test('a cost is taken whole or not at all', async () => {
  const one = charge();
  expect(await take([one], 3)).toBeNull();
  expect(await take([one], 3)).not.toBeNull();
  expect(await take([one], 2)).toBeNull();
});

test('a window that is over counts for nothing, and counters of it are deleted with the next charge', async () => {
  const [one, old] = [charge(1), charge(1)];
  await take([one]);
  await take([old]);
  await database.owner.query(
    `update base.rate_limit_counters set window_ends_at = now() - interval '1 second'`,
  );
  expect(await take([one])).toBeNull();
  expect(await take([one])).not.toBeNull();
  const { rows } = await database.owner.query(
    'select from base.rate_limit_counters where limit_name = $1',
    [old.limit.name],
  );
  expect(rows).toEqual([]);
});

test('what strangers choose is counted in a bounded number of slots, which only this installation can tell', () => {
  const { keys } = database.deps;
  const slots = new Set(times(2_000).map((_, at) => slotOf(keys, `${at}@example.com`)));
  expect(slots.size).toBeGreaterThan(1_900);
  for (const slot of slots) expect(Number(/^slot (\d+)$/.exec(slot)?.[1])).toBeLessThan(262_144);
  expect(slotOf(keys, 'a')).toBe(slotOf(keys, 'a'));
});

test.each([
  [1, '1 second'],
  [2, '2 seconds'],
  [120, '120 seconds'],
  [121, '3 minutes'],
  [900, '15 minutes'],
])('%i seconds are %s', (seconds, words) => {
  expect(describeWait(seconds)).toBe(words);
});
