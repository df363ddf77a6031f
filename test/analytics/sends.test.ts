import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('a send is shown with the names of what sent it, and its person’s profile of today', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), 'ann', 'user_signed_up'], [at(3), 'bob', 'user_signed_up']);
  const send_id = await shop.sent({ to: 'ann', acceptedAt: at(2), deliveredAt: at(2, '12:01') });
  const { profile_id } = await shop.identityOf('bob');
  await database.owner.query(
    `update identity.identities set profile_id = $2 where project_id = $1 and value = 'ann'`,
    [shop.projectId, profile_id],
  );
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from sends');
  expect(rows).toMatchObject([
    {
      send_id,
      automation_id: shop.automationId,
      automation: 'Welcome',
      template: 'Hello',
      template_version: 1,
      step_id: 'mail',
      profile_id,
      recipient: 'ann@example.com',
      subject: 'Hello',
      status: 'delivered',
      accepted_at: at(2),
      delivered_at: at(2, '12:01'),
      bounced_at: null,
    },
  ]);
});

test('the status is the strongest fact, as in the send log', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), 'ann', 'user_signed_up']);
  const facts = { deliveredAt: at(1), bouncedAt: at(1) };
  await shop.sent({ to: 'ann', status: 'queued', acceptedAt: null, queuedAt: at(4) });
  await shop.sent({ to: 'ann', acceptedAt: at(3) });
  await shop.sent({ to: 'ann', acceptedAt: at(2), ...facts });
  await shop.sent({ to: 'ann', acceptedAt: at(1), ...facts, complainedAt: at(1) });
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select status from sends order by queued_at');
  expect(rows.map(({ status }) => status)).toEqual(['queued', 'accepted', 'bounced', 'complained']);
});
