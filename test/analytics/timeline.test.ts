import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('an event is on the timeline of its external id, and of its anonymous id where it has none', async () => {
  const shop = await Shop.open(database);
  await shop.happened(
    [at(3), '~b1', 'page_viewed'],
    [at(2), 'ann~b1', 'user_signed_up'],
    [at(1), 'ann', 'order_placed'],
  );
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query(`
    select entry.event, identity.kind, identity.value
    from timeline as entry join identities as identity using (profile_id)
    order by entry.occurred_at`);
  expect(rows).toEqual([
    { event: 'page_viewed', kind: 'anonymous', value: 'b1' },
    { event: 'user_signed_up', kind: 'external', value: 'ann' },
    { event: 'order_placed', kind: 'external', value: 'ann' },
  ]);
});

test('what an identity did before it belonged to a profile is on that profile’s timeline today', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), '~b1', 'page_viewed'], [at(1), 'ann', 'order_placed']);
  const { profile_id } = await shop.identityOf('ann');
  await database.owner.query(
    'update identity.identities set profile_id = $2 where project_id = $1',
    [shop.projectId, profile_id],
  );
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query(
    'select profile_id, event from timeline order by occurred_at',
  );
  expect(rows).toEqual([
    { profile_id, event: 'page_viewed' },
    { profile_id, event: 'order_placed' },
  ]);
});

test('an event that is not processed yet is there once, without a profile', async () => {
  const shop = await Shop.open(database);
  await acceptEvents(database.deps.db, shop.projectId, newId(), [newEvent()]);
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select profile_id, external_id from timeline');
  expect(rows).toEqual([{ profile_id: null, external_id: 'ann' }]);
});
