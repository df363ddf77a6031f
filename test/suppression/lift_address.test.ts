import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn, KEY } from './said.ts';

const database = testDatabase();

test('a lift takes the address off the list and says why in its history', async () => {
  const ann = addressIn(database);
  await ann.suppress('hard_bounce');
  expect(await ann.lift()).toBe(true);
  expect(await ann.row()).toMatchObject({ reason: null, source: null, suppressed_at: null });
  expect(await ann.history()).toMatchObject([
    { change: 'suppressed', reason: 'hard_bounce' },
    { change: 'released', reason: null, note: 'because' },
  ]);
});

test('who is not on the list stays as they are, without a line of history', async () => {
  const ann = addressIn(database);
  expect(await ann.lift()).toBe(false);
  await ann.suppress('manual');
  await ann.lift();
  expect(await ann.lift()).toBe(false);
  expect(await ann.history()).toHaveLength(2);
});

test('a complaint is lifted only when that is said a second time', async () => {
  const ann = addressIn(database);
  await ann.suppress('hard_bounce');
  await ann.suppress('complaint');
  await expect(ann.lift()).rejects.toMatchObject({
    code: 'ZREFU',
    message: 'complaint_not_confirmed',
  });
  expect(await ann.row()).toMatchObject({ reason: 'complaint' });
  expect(await ann.lift(true)).toBe(true);
  expect(await ann.row()).toMatchObject({ reason: null });
});

test('the same lift twice is one: it does not lift what came in between', async () => {
  const ann = addressIn(database);
  const historyId = newId();
  await ann.suppress('manual');
  await ann.lift(false, historyId);
  await ann.suppress('manual');
  await ann.lift(false, historyId);
  expect(await ann.row()).toMatchObject({ reason: 'manual' });
});

test('an unsubscribe is not touched', async () => {
  const ann = addressIn(database);
  await ann.subscribe('unsubscribed');
  await ann.suppress('manual');
  await ann.lift();
  expect(await ann.row()).toMatchObject({ reason: null, is_unsubscribed: true });
});

test('a lift waits for a complaint in flight, and is then refused', async () => {
  const ann = addressIn(database);
  await ann.suppress('manual');
  const telling = await connectTo(database, ann.projectId);
  await telling.query('begin');
  await telling.query(
    `select suppression.suppress_address($1, $2, 'ann@example.com', $3, 'complaint', 'test', null)`,
    [ann.projectId, KEY, newId()],
  );
  const lifter = await connectTo(database, ann.projectId);
  const lifting = lifter
    .query(`select suppression.lift_address($1, $2, $3, 'test', 'because', false)`, [
      ann.projectId,
      KEY,
      newId(),
    ])
    .catch((error: Error) => error.message);
  await untilWaiting(database);
  expect(await isSettled(lifting)).toBe(false);
  await telling.query('commit');
  expect(await lifting).toBe('complaint_not_confirmed');
});
