import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn } from './said.ts';

const database = testDatabase();

/** Two addresses of one mailbox, a third without a row, and what stops email to any of them. */
const twoAddresses = () => {
  const projectId = newId();
  const keys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
  const [first, second] = keys.map((key) => addressIn(database, projectId, key));
  if (!first || !second) throw new Error('unreachable');
  const ask = async (category = 'marketing', asked = keys): Promise<string | null> =>
    (
      await database.owner.query('select suppression.stops_any($1, $2, $3) as answer', [
        projectId,
        asked,
        category,
      ])
    ).rows[0].answer;
  return { keys, first, second, ask };
};

test('a suppression of any of the addresses stops email of every category, until it is lifted', async () => {
  const { second, ask } = twoAddresses();
  expect(await ask()).toBeNull();
  await second.suppress('manual');
  expect([await ask(), await ask('transactional')]).toEqual(['suppressed', 'suppressed']);
  await second.lift();
  expect(await ask()).toBeNull();
});

test('an unsubscribe of any of them stops marketing email alone, until a resubscribe', async () => {
  const { first, second, ask } = twoAddresses();
  await first.subscribe('resubscribed');
  await second.subscribe('unsubscribed');
  expect([await ask(), await ask('transactional')]).toEqual(['unsubscribed', null]);
  await first.suppress('complaint');
  expect(await ask()).toBe('suppressed');
  await first.lift(true);
  await second.subscribe('resubscribed');
  expect(await ask()).toBeNull();
});

test('other addresses stop nothing, and none stops nothing', async () => {
  const { keys, first, ask } = twoAddresses();
  await first.suppress('manual');
  expect([await ask('marketing', keys.slice(1)), await ask('marketing', [])]).toEqual([null, null]);
});
