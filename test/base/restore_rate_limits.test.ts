import { expect, test } from 'vitest';
import { consume, restore } from '../../src/base/rate_limits.ts';
import type { Charge, Receipt } from '../../src/base/rate_limits.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const charge = (name: string): Charge => ({
  limit: { name, max: 2, windowSeconds: 900 },
  key: newId(),
});
const take = (...charges: Charge[]) => consume(database.deps.db, charges);
/** Charges limits that have room. */
const pay = async (...charges: Charge[]): Promise<Receipt> => {
  const consumed = await take(...charges);
  if (consumed.exceeded) throw new Error('there is no room');
  return consumed.receipt;
};
const giveBack = (receipt: Receipt) => restore(database.deps.db, receipt);
const usedOf = async (...charges: Charge[]): Promise<number[]> =>
  (
    await database.owner.query(
      'select used from base.rate_limit_counters where counter_key = any ($1)',
      [charges.map(({ key }) => key)],
    )
  ).rows.map(({ used }) => used as number);
const endWindow = (...charges: Charge[]) =>
  database.owner.query(
    `update base.rate_limit_counters set window_ends_at = now() - interval '1 second'
    where counter_key = any ($1)`,
    [charges.map(({ key }) => key)],
  );

test('a charge that is returned has room again, and never more than there was', async () => {
  const one = charge('one');
  const receipt = await pay(one);
  await pay(one);
  expect((await take(one)).exceeded).not.toBeNull();
  for (const _ of [1, 2, 3, 4]) await giveBack(receipt);
  expect(await usedOf(one)).toEqual([0]);
  for (const _ of [1, 2]) await pay(one);
  expect((await take(one)).exceeded).not.toBeNull();
});

test('attack: a charge of a window that is over takes nothing from the next window', async () => {
  const one = charge('one');
  const receipt = await pay(one);
  await endWindow(one);
  await pay(one);
  await giveBack(receipt);
  expect(await usedOf(one)).toEqual([1]);
});

test('of several charges each goes back to its own window', async () => {
  const [over, open] = [charge('over'), charge('open')];
  const receipt = await pay(over, open);
  await endWindow(over);
  await pay(over, open);
  await giveBack(receipt);
  expect([await usedOf(over), await usedOf(open)]).toEqual([[1], [1]]);
});

test('charges that are taken and returned at once, in either order, block nobody and lose nothing', async () => {
  const [one, other] = [charge('one'), charge('other')];
  await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const consumed = await take(...(at % 2 === 0 ? [one, other] : [other, one]));
      if (consumed.exceeded === null) await giveBack(consumed.receipt);
    }),
  );
  expect(await usedOf(one, other)).toEqual([0, 0]);
});
