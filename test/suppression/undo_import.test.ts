import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { addressIn, importIn, KEY } from './said.ts';

const database = testDatabase();

const imported = async (reason: string) => {
  const ann = addressIn(database);
  const list = importIn(database, ann.projectId);
  return { ann, list, add: () => list.add([KEY], reason), undo: () => list.undo([KEY]) };
};

test.each(['manual', 'complaint', 'unsubscribed'])(
  'whom only the import called %s is free again, once',
  async (reason) => {
    const { ann, add, undo } = await imported(reason);
    await add();
    expect(await undo()).toBe(1);
    expect(await ann.row()).toMatchObject({ reason: null, is_unsubscribed: false });
    expect(await undo()).toBe(0);
    expect(await ann.history()).toHaveLength(2);
  },
);

test.each([
  ['before', true],
  ['since', false],
])('whom somebody else suppressed %s stays', async (_when, isBefore) => {
  const { ann, add, undo } = await imported('manual');
  if (isBefore) await ann.suppress('manual');
  await add();
  if (!isBefore) await ann.suppress('manual');
  expect(await undo()).toBe(0);
  expect(await ann.row()).toMatchObject({ reason: 'manual', source: 'test' });
});

test.each([
  ['before', true],
  ['since', false],
])('who unsubscribed %s by a link stays so', async (_when, isBefore) => {
  const { ann, add, undo } = await imported('unsubscribed');
  if (isBefore) await ann.subscribe('unsubscribed', null, 'link');
  await add();
  if (!isBefore) await ann.subscribe('unsubscribed', null, 'link');
  expect(await undo()).toBe(0);
  expect(await ann.row()).toMatchObject({ is_unsubscribed: true });
});

test('who came back after the import is left as they are', async () => {
  const { ann, add, undo } = await imported('unsubscribed');
  await add();
  await ann.subscribe('resubscribed');
  expect(await undo()).toBe(0);
  expect(await ann.row()).toMatchObject({ is_unsubscribed: false });
});

test('another import of the same address keeps it', async () => {
  const { ann, add, undo } = await imported('manual');
  const other = importIn(database, ann.projectId);
  await add();
  await other.add([KEY]);
  expect(await undo()).toBe(0);
  expect(await other.undo([KEY])).toBe(1);
  expect(await ann.row()).toMatchObject({ reason: null });
});

test('addresses that the import did not name are not looked at', async () => {
  const { ann, undo } = await imported('manual');
  await ann.suppress('manual');
  expect(await undo()).toBe(0);
  expect(await ann.history()).toHaveLength(1);
});
