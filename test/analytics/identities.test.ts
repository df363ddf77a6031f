import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { see } from '../../src/identity/identity.ts';
import { testDatabase } from '../support/database.ts';
import { connectAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();

test('every identifier is shown with its profile and when it was seen', async () => {
  const shop = await Shop.open(database);
  await shop.happened([at(9), '~b1', 'page_viewed'], [at(2), 'ann~b1', 'user_signed_up']);
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select * from identities order by kind desc');
  expect(rows).toEqual([
    {
      ...(await shop.identityOf('ann')),
      kind: 'external',
      value: 'ann',
      first_seen_at: at(2),
      last_seen_at: at(2),
    },
    {
      identity_id: expect.any(String),
      profile_id: expect.any(String),
      kind: 'anonymous',
      value: 'b1',
      first_seen_at: at(9),
      last_seen_at: at(2),
    },
  ]);
});

test('an identifier that is only named by an alias was not seen yet', async () => {
  const shop = await Shop.open(database);
  await inProject(database.deps, shop.projectId, (scope) =>
    see(scope, [{ kind: 'anonymous', value: 'b1', first_seen_at: null, last_seen_at: null }]),
  );
  const analyst = await connectAnalyst(database, shop.projectId);
  const { rows } = await analyst.query('select value, first_seen_at, last_seen_at from identities');
  expect(rows).toEqual([{ value: 'b1', first_seen_at: null, last_seen_at: null }]);
});
