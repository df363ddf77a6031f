// How much an address gets that only a browser has said: one mail of an automation ever, three in 24 hours.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { UNCONFIRMED } from '../../src/delivery/limits.ts';
import { testDatabase } from '../support/database.ts';
import { limitedSends } from './limited.ts';
import { addressKeyOf } from './one_send.ts';

const database = testDatabase();

const address = () => {
  const sent = limitedSends(database);
  const recipient = `${newId()}@example.com`;
  /** Each time to somebody else, who says that it is theirs. */
  const mailed = async (
    ago: string,
    given: { automationId?: string; status?: string; isTest?: boolean } = {},
  ) => sent.handedOver(await sent.person(), ago, { recipient, ...given });
  const hadMost = async (automationId = newId(), sendId = newId()) => {
    const { rows } = await database.owner.query<{ is_so: boolean; is_under_way: boolean }>(
      'select * from delivery.had_most($1, $2, $3, $4, $5, now())',
      [sent.projectId, sendId, automationId, addressKeyOf(recipient), UNCONFIRMED],
    );
    return rows[0]?.is_under_way ? 'under way' : rows[0]?.is_so;
  };
  return { mailed, hadMost };
};

test('one mail of an automation, however long ago; of another it may have one too', async () => {
  const { mailed, hadMost } = address();
  const automationId = newId();
  expect(await hadMost(automationId)).toBe(false);
  await mailed('400 days', { automationId });
  expect(await hadMost(automationId)).toBe(true);
  expect(await hadMost()).toBe(false);
});

test('three in 24 hours, of whatever automations', async () => {
  const { mailed, hadMost } = address();
  await mailed('23 hours 59 minutes');
  await mailed('1 hour');
  expect(await hadMost()).toBe(false);
  await mailed('24 hours 1 minute');
  expect(await hadMost()).toBe(false);
  await mailed('0');
  expect(await hadMost()).toBe(true);
});

test('what is under way counts as that, where what is settled leaves room', async () => {
  const { mailed, hadMost } = address();
  const automationId = newId();
  const status = 'handing_off';
  await mailed('0', { automationId, status });
  expect([await hadMost(automationId), await hadMost()]).toEqual(['under way', false]);
  await mailed('1 hour', { automationId });
  expect([await hadMost(automationId), await hadMost()]).toEqual([true, false]);
  await mailed('2 hours');
  expect([await hadMost(automationId), await hadMost()]).toEqual([true, 'under way']);
});

test('what did not go out is none, and no send counts for itself', async () => {
  const { mailed, hadMost } = address();
  const automationId = newId();
  for (const status of ['rejected', 'cancelled', 'queued', 'not_sent'])
    await mailed('1 hour', { automationId, status });
  expect(await hadMost(automationId)).toBe(false);
  const { sendId } = await mailed('1 hour', { automationId });
  expect(await hadMost(automationId, sendId)).toBe(false);
  expect(await hadMost(automationId)).toBe(true);
});

test('mail of a test counts for no address', async () => {
  const { mailed, hadMost } = address();
  const automationId = newId();
  for (const ago of ['1 hour', '2 hours', '3 hours'])
    await mailed(ago, { automationId, isTest: true });
  expect(await hadMost(automationId)).toBe(false);
});
