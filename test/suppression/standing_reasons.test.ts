import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { addressIn, importIn, KEY } from './said.ts';

const database = testDatabase();
const PAST = '2020-01-31T12:00:00.000Z';

test('nothing stands of an address that nobody mentioned', async () => {
  expect(await addressIn(database).standing()).toEqual([]);
});

test('everything that was said stands, each with its source and time', async () => {
  const ann = addressIn(database);
  await ann.suppress('hard_bounce', PAST, 'webhook/smtp');
  await ann.suppress('complaint', PAST);
  expect(await ann.standing()).toEqual([
    { reason: 'complaint', source: 'test', since: new Date(PAST) },
    { reason: 'hard_bounce', source: 'webhook/smtp', since: new Date(PAST) },
  ]);
});

test('a lift takes back what is older, also what is told later; a complaint only when confirmed', async () => {
  const ann = addressIn(database);
  await ann.suppress('manual');
  await ann.lift();
  await ann.suppress('hard_bounce', PAST);
  expect(await ann.standing()).toEqual([]);
  await ann.suppress('complaint', PAST);
  expect(await ann.standing()).toMatchObject([{ reason: 'complaint' }]);
  await ann.lift(true);
  await ann.suppress('complaint', PAST);
  expect(await ann.standing()).toEqual([]);
});

test('what is newer than the lift stands', async () => {
  const ann = addressIn(database);
  await ann.suppress('hard_bounce', PAST);
  await ann.lift();
  await ann.suppress('soft_bounces', new Date(Date.now() + 60_000).toISOString());
  expect(await ann.standing()).toMatchObject([{ reason: 'soft_bounces' }]);
});

test('what is told from the future happens now, after everything that is known', async () => {
  const ann = addressIn(database);
  for (let turn = 0; turn < 20; turn += 1) {
    await ann.suppress('manual');
    await ann.lift();
    await ann.suppress('hard_bounce', '2999-01-31T12:00:00.000Z');
    expect(await ann.standing()).toMatchObject([{ reason: 'hard_bounce' }]);
    await ann.lift();
  }
});

test('an import that is undone takes back its own word only', async () => {
  const ann = addressIn(database);
  const [one, other] = [importIn(database, ann.projectId), importIn(database, ann.projectId)];
  await one.add([KEY]);
  await other.add([KEY], 'complaint');
  await one.undo([KEY]);
  expect(await ann.standing()).toMatchObject([{ reason: 'complaint' }]);
  await other.undo([KEY]);
  expect(await ann.standing()).toEqual([]);
});

test('another project’s address of the same key is another address', async () => {
  await addressIn(database).suppress('manual');
  expect(await addressIn(database).standing()).toEqual([]);
});
