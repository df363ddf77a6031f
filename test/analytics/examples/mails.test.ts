// The documented queries about mails and what came of them, over a past written by hand.
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/database.ts';
import { connectAnalyst } from '../connect_analyst.ts';
import { at, Shop } from '../shop.ts';
import { runExample } from './run_example.ts';

const database = testDatabase();

/** A project where three people signed up, beside another with a mail of its own. */
const openShop = async (): Promise<Shop> => {
  const shop = await Shop.open(database);
  for (const who of ['ann', 'bob', 'cid']) await shop.happened([at(20), who, 'user_signed_up']);
  const other = await Shop.open(database);
  await other.happened([at(1), 'zoe', 'order_placed']);
  await other.sent({ to: 'zoe', acceptedAt: at(2), bouncedAt: at(2) });
  await other.suppressed('zoe@example.com', 'complaint', 'webhook/smtp', at(1));
  return shop;
};
const ask = async (shop: Shop, name: string) =>
  runExample(await connectAnalyst(database, shop.projectId), name);

test('mail_and_next_steps: what each recipient did within a day, in order', async () => {
  const shop = await openShop();
  await shop.sent({ to: 'ann', acceptedAt: at(3, '10:00'), deliveredAt: at(3, '10:01') });
  await shop.sent({ to: 'bob', acceptedAt: at(2, '10:00') });
  await shop.sent({ to: 'cid', acceptedAt: at(9) });
  await shop.happened(
    [at(3, '09:00'), 'ann', 'page_viewed'],
    [at(3, '12:00'), 'ann', 'order_placed'],
    [at(3, '11:00'), 'ann', 'page_viewed'],
    [at(2, '11:00'), 'ann', 'page_left'],
    [at(1, '23:00'), 'cid', 'page_viewed'],
  );
  expect(await ask(shop, 'mail_and_next_steps')).toEqual([
    {
      recipient: 'bob@example.com',
      template: 'Hello',
      accepted_at: at(2, '10:00'),
      status: 'accepted',
      next_steps: [],
    },
    {
      recipient: 'ann@example.com',
      template: 'Hello',
      accepted_at: at(3, '10:00'),
      status: 'delivered',
      next_steps: ['page_viewed', 'order_placed'],
    },
  ]);
});

test('mail_to_conversion: a person who ordered twice is converted once', async () => {
  const shop = await openShop();
  await shop.sent({ to: 'ann', acceptedAt: at(15) });
  await shop.sent({ to: 'ann', acceptedAt: at(14) });
  await shop.sent({ to: 'bob', acceptedAt: at(14) });
  await shop.sent({ to: 'cid', acceptedAt: at(14) });
  await shop.sent({ to: 'cid', acceptedAt: null, status: 'queued' });
  await shop.happened(
    [at(13), 'ann', 'order_placed'],
    [at(12), 'ann', 'order_placed'],
    [at(16), 'bob', 'order_placed'],
    [at(5), 'cid', 'order_placed'],
  );
  expect(await ask(shop, 'mail_to_conversion')).toEqual([
    { automation: 'Welcome', template: 'Hello', sent: 4, people: 3, converted: 1, rate: 0.333 },
  ]);
});

test('bounce_rate_by_domain: domains in whatever case, the worst first', async () => {
  const shop = await openShop();
  const mail = { to: 'ann', acceptedAt: at(4) };
  await shop.sent({ ...mail, recipient: 'a@Gone.example', bouncedAt: at(4) });
  await shop.sent({ ...mail, recipient: 'b@gone.example' });
  await shop.sent({ ...mail, recipient: 'c@good.example', complainedAt: at(4) });
  await shop.sent({ ...mail, acceptedAt: null, recipient: 'd@good.example', status: 'queued' });
  expect(await ask(shop, 'bounce_rate_by_domain')).toEqual([
    { domain: 'gone.example', sent: 2, bounced: 1, complained: 0, bounce_rate: 0.5 },
    { domain: 'good.example', sent: 1, bounced: 0, complained: 1, bounce_rate: 0 },
  ]);
});

test('suppression_reasons: why, by whom and since when', async () => {
  const shop = await openShop();
  await shop.suppressed('a@example.com', 'hard_bounce', 'webhook/smtp', at(9));
  await shop.suppressed('b@example.com', 'hard_bounce', 'webhook/smtp', at(3));
  await shop.suppressed('c@example.com', 'manual', 'console', at(5));
  expect(await ask(shop, 'suppression_reasons')).toEqual([
    {
      reason: 'hard_bounce',
      source: 'webhook/smtp',
      addresses: 2,
      first_at: at(9),
      last_at: at(3),
    },
    { reason: 'manual', source: 'console', addresses: 1, first_at: at(5), last_at: at(5) },
  ]);
});

test('unsubscribes_by_mail: over whose mail people left, and who is still gone', async () => {
  const shop = await openShop();
  for (const who of ['ann', 'bob', 'cid']) await shop.told(who, { email: `${who}@example.com` });
  const send_id = await shop.sent({ to: 'ann', acceptedAt: at(15) });
  await shop.happened(
    [at(9), 'ann', 'email_unsubscribed', { send_id }],
    [at(8), 'bob', 'email_unsubscribed', { send_id }],
    [at(7), 'bob', 'email_unsubscribed', { send_id }],
    [at(6), 'cid', 'email_unsubscribed', { by: 'api' }],
    [at(99), 'cid', 'email_unsubscribed', { by: 'api' }],
  );
  await shop.unsubscribed('ann@example.com', 'link', at(9));
  await shop.unsubscribed('cid@example.com', 'api', at(6));
  await shop.unsubscribed('cid@example.com', 'api', at(5), 'resubscribed');
  expect(await ask(shop, 'unsubscribes_by_mail')).toEqual([
    { automation: 'Welcome', unsubscribes: 3, people: 2, still: 1 },
    { automation: null, unsubscribes: 1, people: 1, still: 0 },
  ]);
});

test('silent_people: those with an address that is not suppressed, the most recent first', async () => {
  const shop = await openShop();
  for (const [who, days] of [
    ['dan', 60],
    ['eva', 90],
    ['fay', 70],
    ['gus', 80],
  ] as const) {
    await shop.happened([at(days), who, 'page_viewed']);
    if (who !== 'fay') await shop.told(who, { email: `${who}@example.com` });
  }
  await shop.told('ann', { email: 'ann@example.com' });
  await shop.suppressed('GUS@example.com', 'manual', 'console', at(1));
  const rows = await ask(shop, 'silent_people');
  expect(rows).toEqual([
    {
      external_id: 'dan',
      email: 'dan@example.com',
      last_seen_at: at(60),
      days_silent: expect.any(Number),
    },
    {
      external_id: 'eva',
      email: 'eva@example.com',
      last_seen_at: at(90),
      days_silent: expect.any(Number),
    },
  ]);
  expect([59, 60, 61]).toContain(rows[0]?.['days_silent']);
});

test('sends_by_status: shares of each automation', async () => {
  const shop = await openShop();
  await shop.sent({ to: 'ann', acceptedAt: at(4), deliveredAt: at(4) });
  await shop.sent({ to: 'bob', acceptedAt: at(4), deliveredAt: at(4) });
  await shop.sent({ to: 'cid', acceptedAt: at(4), bouncedAt: at(4) });
  await shop.sent({ to: 'cid', acceptedAt: null, queuedAt: at(2), status: 'suppressed' });
  await shop.sent({ to: 'cid', acceptedAt: at(44) });
  expect(await ask(shop, 'sends_by_status')).toEqual([
    { automation: 'Welcome', status: 'delivered', sends: 2, share: 0.5 },
    { automation: 'Welcome', status: 'bounced', sends: 1, share: 0.25 },
    { automation: 'Welcome', status: 'suppressed', sends: 1, share: 0.25 },
  ]);
});

test('runs_by_step: where people are', async () => {
  const shop = await openShop();
  const active = { status: 'active', ended_at: null };
  await shop.ran('ann', at(5), { ...active, step_id: 'wait' });
  await shop.ran('bob', at(4), { ...active, step_id: 'wait' });
  await shop.ran('cid', at(3));
  await shop.ran('cid', at(100));
  const run = { automation: 'Welcome', version: 1 };
  expect(await ask(shop, 'runs_by_step')).toEqual([
    { ...run, status: 'active', step_id: 'wait', runs: 2, oldest: at(5) },
    { ...run, status: 'ended', step_id: null, runs: 1, oldest: at(3) },
  ]);
});
