import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('unsubscribed addresses are shown with who said so last, since the first; who came back is not', async () => {
  const shop = await Shop.open(database);
  await shop.suppressed('bob@example.com', 'complaint', 'webhook/smtp', at(1));
  await shop.unsubscribed('ann@example.com', 'api', at(3));
  await shop.unsubscribed('ann@example.com', 'link', at(2));
  await shop.unsubscribed('cid@example.com', 'link', at(2));
  await shop.unsubscribed('cid@example.com', 'api', at(1), 'resubscribed');
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from unsubscribes');
  expect(rows).toEqual([{ email: 'ann@example.com', source: 'link', unsubscribed_at: at(3) }]);
});

test('what somebody wrote about an address is not open to analysts', async () => {
  const shop = await Shop.open(database);
  const analyst = await connectAnalyst(database, shop.projectId);
  await expect(analyst.query('select note from suppression.history')).rejects.toThrow(
    /permission denied/,
  );
});
