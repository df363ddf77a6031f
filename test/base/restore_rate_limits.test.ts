import { expect, test } from 'vitest';
import { consume, restore } from '../../src/base/rate_limits.ts';
import type { Charge } from '../../src/base/rate_limits.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const charge = (name: string): Charge => ({
  limit: { name, max: 2, windowSeconds: 900 },
  key: newId(),
});
const take = (charges: Charge[]) => consume(database.deps.db, charges);
const giveBack = (charges: Charge[]) => restore(database.deps.db, charges);

test('a charge that is returned has room again, and never more than there was', async () => {
  const one = charge('one');
  for (const _ of [1, 2, 3]) await giveBack([one]);
  expect([await take([one]), await take([one])]).toEqual([null, null]);
  expect(await take([one])).not.toBeNull();
  for (const _ of [1, 2, 3, 4]) await giveBack([one]);
  expect([await take([one]), await take([one])]).toEqual([null, null]);
  expect(await take([one])).not.toBeNull();
});

test('charges that are taken and returned at once, in either order, block nobody and lose nothing', async () => {
  const [one, other] = [charge('one'), charge('other')];
  await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const both = at % 2 === 0 ? [one, other] : [other, one];
      if ((await take(both)) === null) await giveBack(both.toReversed());
    }),
  );
  const { rows } = await database.owner.query(
    'select used from base.rate_limit_counters where counter_key = any ($1)',
    [[one.key, other.key]],
  );
  expect(rows).toEqual([{ used: 0 }, { used: 0 }]);
});
