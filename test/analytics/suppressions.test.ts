import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('suppressed addresses are shown with their reason; known ones that are not suppressed are not', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), 'bob', 'user_signed_up']);
  await shop.sent({ to: 'bob' });
  await shop.suppressed('ann@example.com', 'complaint', 'webhook/smtp', at(1));
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from suppressions');
  expect(rows).toEqual([
    {
      email: 'ann@example.com',
      reason: 'complaint',
      source: 'webhook/smtp',
      suppressed_at: at(1),
    },
  ]);
});
