import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn } from './said.ts';

const database = testDatabase();
const SINCE = '2026-01-31T12:00:01.000Z';

const bouncing = () => {
  const ann = addressIn(database);
  const count = (since: string | null) =>
    database.owner.query(
      "select suppression.set_soft_bounced($1, $2, 'ann@example.com', $3, 'webhook/smtp', $4, now())",
      [ann.projectId, ann.key, newId(), since],
    );
  return { ...ann, count };
};

test('too many in a row suppress the address since then, and say so once', async () => {
  const ann = bouncing();
  await ann.count(SINCE);
  await ann.count(SINCE);
  expect(await ann.row()).toMatchObject({
    email: 'ann@example.com',
    reason: 'soft_bounces',
    source: 'webhook/smtp',
    suppressed_at: new Date(SINCE),
  });
  expect(await ann.history()).toMatchObject([{ change: 'soft_bounced' }]);
});

test('who turns out to get mail is free again, unless there is another reason', async () => {
  const ann = bouncing();
  await ann.count(SINCE);
  await ann.count(null);
  expect(await ann.row()).toMatchObject({ reason: null, suppressed_at: null });
  expect(await ann.history()).toMatchObject([
    { change: 'soft_bounced' },
    { change: 'soft_recovered' },
  ]);
  await ann.suppress('hard_bounce');
  await ann.count(SINCE);
  await ann.count(null);
  expect(await ann.row()).toMatchObject({ reason: 'hard_bounce' });
});

test('a lift stands against what was counted before it, and not against what is counted later', async () => {
  const ann = bouncing();
  await ann.count(SINCE);
  await ann.lift();
  await ann.count(SINCE);
  expect(await ann.row()).toMatchObject({ reason: null });
  expect((await ann.history()).map(({ change }) => change)).toEqual(['soft_bounced', 'released']);
  await ann.count(new Date(Date.now() + 60_000).toISOString());
  expect(await ann.row()).toMatchObject({ reason: 'soft_bounces' });
});

test('what is counted after a lift is in the history again, and so is its end', async () => {
  const ann = bouncing();
  const changes = async (): Promise<string[]> =>
    (await ann.history()).map(({ change }) => change as string);
  await ann.count(SINCE);
  await ann.lift();
  const again = new Date(Date.now() + 60_000).toISOString();
  await ann.count(again);
  await ann.count(again);
  expect((await changes()).toSorted()).toEqual(['released', 'soft_bounced', 'soft_bounced']);
  await ann.count(null);
  expect((await changes()).toSorted()).toEqual([
    'released',
    'soft_bounced',
    'soft_bounced',
    'soft_recovered',
  ]);
});

test('what was lifted does not recover besides', async () => {
  const ann = bouncing();
  await ann.count(SINCE);
  await ann.lift();
  await ann.count(null);
  expect((await ann.history()).map(({ change }) => change)).toEqual(['soft_bounced', 'released']);
});

test('an address that was erased is suppressed by its key alone', async () => {
  const ann = bouncing();
  await ann.suppress('manual');
  await database.owner.query('select suppression.erase_addresses($1, $2, now())', [
    ann.projectId,
    [ann.key],
  ]);
  await ann.count(SINCE);
  expect(await ann.row()).toMatchObject({ email: null, reason: 'soft_bounces' });
});

test('no recovery is noted of an address that never bounced', async () => {
  const ann = bouncing();
  await ann.count(null);
  expect(await ann.history()).toEqual([]);
});
