import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('a link is shown with whom it joined, who asked for it and how it stands', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(3), 'ann~b1', 'user_signed_up'], [at(3), 'bob', 'user_signed_up']);
  const analyst = await connectAnalyst(database, shop.projectId);
  const {
    rows: [browser],
  } = await analyst.query(`select * from identities where value = 'b1'`);
  const made = await shop.linked('b1', 'ann');
  await shop.linked('b1', 'bob');
  await shop.unlinked(made.link_id);
  const { rows } = await analyst.query('select * from links order by link_id');
  const { profile_id } = await shop.identityOf('ann');
  expect(rows).toEqual([
    {
      link_id: made.link_id,
      anonymous_id: 'b1',
      external_id: 'ann',
      profile_id,
      anonymous_profile_id: browser.profile_id,
      source: 'identify',
      key_type: 'publishable',
      status: 'undone',
      reason: null,
      created_at: made.created_at,
      undone_at: expect.any(Date),
      undone_by: 'server_key',
      confirmed_at: null,
      replaces: null,
      replaced_by: null,
    },
    expect.objectContaining({
      external_id: 'bob',
      status: 'refused',
      reason: 'linked_to_another',
      undone_at: null,
      undone_by: null,
    }),
  ]);
});
