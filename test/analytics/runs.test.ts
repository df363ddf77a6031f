import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('a run is shown with its automation’s name and its person’s profile of today', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), 'ann', 'user_signed_up']);
  const waiting = { status: 'active', step_id: 'mail', wake_at: at(-1), ended_at: null };
  const run_id = await shop.ran('ann', at(2), waiting);
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from runs');
  expect(rows).toEqual([
    {
      run_id,
      automation_id: shop.automationId,
      automation: 'Welcome',
      version: 1,
      profile_id: (await shop.identityOf('ann')).profile_id,
      trigger_event_id: expect.any(String),
      trigger_event_at: at(2),
      started_at: at(2),
      ...waiting,
      outcome: null,
      is_test: false,
    },
  ]);
});
