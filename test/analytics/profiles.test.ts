import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('a profile is shown with what is known, and when its identities were seen', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(9), 'ann', 'page_viewed'], [at(2), 'ann', 'page_viewed']);
  await shop.told('ann', { email: 'ann@example.com', plan: 'pro' });
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from profiles');
  expect(rows).toEqual([
    {
      profile_id: (await shop.identityOf('ann')).profile_id,
      external_id: 'ann',
      email: 'ann@example.com',
      traits: { email: 'ann@example.com', plan: 'pro' },
      tags: [],
      first_seen_at: at(9),
      last_seen_at: at(2),
      created_at: expect.any(Date),
      updated_at: expect.any(Date),
    },
  ]);
});

test('a visitor has a profile without an external id', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(1), '~b1', 'page_viewed']);
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select external_id, email, traits from profiles');
  expect(rows).toEqual([{ external_id: null, email: null, traits: {} }]);
});

test('a profile whose identity belongs to another today is part of that one', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(5), '~b1', 'page_viewed'], [at(1), 'ann', 'order_placed']);
  const { profile_id } = await shop.identityOf('ann');
  await database.owner.query(
    'update identity.identities set profile_id = $2 where project_id = $1',
    [shop.projectId, profile_id],
  );
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query(
    'select profile_id, external_id, first_seen_at from profiles',
  );
  expect(rows).toEqual([{ profile_id, external_id: 'ann', first_seen_at: at(5) }]);
});
