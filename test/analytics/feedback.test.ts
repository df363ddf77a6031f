import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('a notice is shown with the address it is about, but without the address’s key', async () => {
  const shop = await Shop.open(database);
  const address_key = await shop.suppressed(
    'ann@example.com',
    'hard_bounce',
    'webhook/smtp',
    at(1),
  );
  const notice = { kind: 'bounced', bounce_type: 'hard', reason: 'no such user' };
  const times = { occurred_at: at(1), received_at: at(1, '12:01') };
  const key = { source: 'smtp', dedupe_key: 'k' };
  await shop.insert('feedback.notices', { ...key, address_key, ...notice, ...times });
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from feedback');
  expect(rows).toEqual([
    {
      source: 'smtp',
      email: 'ann@example.com',
      send_id: null,
      is_foreign: false,
      ...notice,
      ...times,
    },
  ]);
});
