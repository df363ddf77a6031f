import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { permutationsOf } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn } from './said.ts';

const database = testDatabase();
const at = (second: number): string => `2026-01-31T12:00:0${second}.000Z`;

test('who unsubscribes is unsubscribed, until they come back; both are in the history', async () => {
  const ann = addressIn(database);
  expect(await ann.subscribe('unsubscribed')).toBe(true);
  expect(await ann.row()).toMatchObject({ is_unsubscribed: true, suppressed_at: null });
  expect(await ann.subscribe('resubscribed')).toBe(true);
  expect(await ann.row()).toMatchObject({ is_unsubscribed: false });
  expect(await ann.history()).toMatchObject([
    { change: 'unsubscribed', source: 'test' },
    { change: 'resubscribed', source: 'test' },
  ]);
});

test('a link that is pressed for what is so already leaves one line, however often', async () => {
  const ann = addressIn(database);
  await ann.subscribe('unsubscribed', null, 'api');
  for (let times = 0; times < 5; times += 1)
    expect(await ann.subscribe('unsubscribed', null, 'link')).toBe(false);
  expect((await ann.history()).map(({ source }) => source)).toEqual(['api', 'link']);
});

test('the same change twice is one', async () => {
  const ann = addressIn(database);
  const historyId = newId();
  const again = () =>
    database.owner.query(
      "select suppression.change_subscription($1, $2, null, $3, 'unsubscribed', 'api', null)",
      [ann.projectId, ann.key, historyId],
    );
  await again();
  await ann.subscribe('resubscribed');
  await again();
  expect(await ann.row()).toMatchObject({ is_unsubscribed: false });
  expect(await ann.history()).toHaveLength(2);
});

test('who was never unsubscribed does not come back', async () => {
  const ann = addressIn(database);
  expect(await ann.subscribe('resubscribed')).toBe(false);
  expect(await ann.row()).toMatchObject({ is_unsubscribed: false });
});

test('told late, the latest word counts in any order; of one moment the unsubscribe', async () => {
  const told = [
    ['unsubscribed', at(1)],
    ['resubscribed', at(2)],
    ['unsubscribed', at(3)],
    ['resubscribed', at(3)],
  ] as const;
  for (const order of permutationsOf([...told])) {
    const ann = addressIn(database);
    for (const [change, when] of order) await ann.subscribe(change, when);
    expect(await ann.row()).toMatchObject({ is_unsubscribed: true });
  }
});

test('what is asked for now counts, whatever is told later of times before', async () => {
  const ann = addressIn(database);
  await ann.subscribe('resubscribed', new Date(Date.now() + 60_000).toISOString());
  await ann.subscribe('unsubscribed');
  await ann.subscribe('resubscribed', at(1));
  expect(await ann.row()).toMatchObject({ is_unsubscribed: true });
});

test('coming back lifts no suppression', async () => {
  const ann = addressIn(database);
  await ann.suppress('complaint');
  await ann.subscribe('unsubscribed');
  await ann.subscribe('resubscribed');
  expect(await ann.row()).toMatchObject({ reason: 'complaint', is_unsubscribed: false });
});

test('an address that was erased leaves by its key alone', async () => {
  const ann = addressIn(database);
  await ann.suppress('manual');
  await database.owner.query('select suppression.erase_addresses($1, $2, now())', [
    ann.projectId,
    [ann.key],
  ]);
  await ann.subscribe('unsubscribed');
  expect(await ann.row()).toMatchObject({ email: null, is_unsubscribed: true });
});
