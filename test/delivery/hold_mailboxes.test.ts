import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';
import { addressKeyOf } from './one_send.ts';

const database = testDatabase();

test('two workers at the bound: of many emails to one mailbox no more go than the cap allows', async () => {
  const { projectId, sends, decide, browserTriggered } = budgeted(database);
  await decide(200, 2);
  const all = [];
  for (let at = 0; at < 12; at += 1) all.push(await browserTriggered('ann@example.com'));
  const decisions = await Promise.all(all.map((send) => sends.begin(send)));
  expect(decisions.filter((one) => one === 'handing_off')).toHaveLength(2);
  const { rows } = await database.owner.query(
    "select count(*)::int as sent from delivery.sends where project_id = $1 and status = 'handing_off'",
    [projectId],
  );
  expect(rows).toEqual([{ sent: 2 }]);
});

test('two workers at the bound: of many emails to strangers no more go than the hour allows', async () => {
  const { sends, decide, unconfirmed, readBudget } = budgeted(database);
  await decide(5);
  const all = [];
  for (let at = 0; at < 20; at += 1) all.push(await unconfirmed());
  const decisions = await Promise.all(all.map((send) => sends.begin(send)));
  expect(decisions.filter((one) => one === 'handing_off')).toHaveLength(5);
  expect(decisions.filter((one) => one === 'queued')).toHaveLength(15);
  expect(await readBudget()).toMatchObject({ used: 5, parked: 5 });
});

test('two workers at the bound: addresses with a tag and without are decided one after the other', async () => {
  const { sends, unconfirmed } = budgeted(database);
  const plain = 'ann@example.com';
  const all = [await unconfirmed({ recipient: plain })];
  for (let at = 0; at < 8; at += 1) {
    const recipient = `ann+${at}@example.com`;
    all.push(await unconfirmed({ recipient, mailboxKey: addressKeyOf(plain) }));
  }
  const same = all.map(({ automationId }) => automationId)[0];
  for (const { sendId } of all) await sends.update(sendId, `automation_id = '${same}'`);
  const decisions = await Promise.all(all.map((send) => sends.begin(send)));
  expect(decisions.filter((one) => one === 'handing_off')).toHaveLength(1);
});
