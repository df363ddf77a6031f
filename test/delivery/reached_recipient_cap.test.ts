import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

test('three in 24 hours from runs that no server started, and one past it is skipped', async () => {
  const { sends, browserTriggered } = budgeted(database);
  const mailbox = 'ann@example.com';
  for (let at = 0; at < 3; at += 1) {
    const send = await browserTriggered(mailbox);
    expect(await sends.begin(send)).toBe('handing_off');
    await sends.end(send.sendId, 'accepted');
  }
  const fourth = await browserTriggered(mailbox);
  expect(await sends.begin(fourth)).toBe('cancelled');
  expect(await sends.read(fourth.sendId)).toMatchObject({
    status: 'cancelled',
    status_reason: 'recipient_cap',
  });
  expect(await sends.begin(await browserTriggered('ben@example.com'))).toBe('handing_off');
});

test('what was sent a day ago, not taken, sent by a test or started by a server does not count', async () => {
  const { sends, decide, handedOver, person, browserTriggered } = budgeted(database);
  await decide(200, 1);
  const mailbox = 'ann@example.com';
  const { mailboxKey } = await browserTriggered(mailbox);
  const limits = { browser_triggered: true, zone: 'UTC' } as const;
  await handedOver(await person(), '24 hours 1 minute', { mailboxKey, limits });
  await handedOver(await person(), '1 hour', { mailboxKey, limits, status: 'rejected' });
  await handedOver(await person(), '1 hour', { mailboxKey, limits, isTest: true });
  await handedOver(await person(), '1 hour', { mailboxKey, limits: null });
  expect(await sends.begin(await browserTriggered(mailbox))).toBe('handing_off');
});

test('where only email that is under way decides, the next one waits a moment', async () => {
  const { sends, decide, waitsFor, browserTriggered } = budgeted(database);
  await decide(200, 1);
  const [first, second] = [await browserTriggered('a@b.test'), await browserTriggered('a@b.test')];
  expect(await sends.begin(first)).toBe('handing_off');
  expect(await sends.begin(second)).toBe('queued');
  expect(await waitsFor(second.sendId)).toBeLessThanOrEqual(10);
  await sends.end(first.sendId, 'rejected');
  await sends.update(second.sendId, "due_at = now() - interval '1 ms'");
  await sends.claim(second.providerId);
  expect(await sends.begin(second)).toBe('handing_off');
});
