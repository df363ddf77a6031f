import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { BY_SERVER, openPreLinked } from './linked.ts';

const database = testDatabase();

test('what a server linked, or confirmed, no other word of a server moves', async () => {
  const world = await openPreLinked(database);
  await world.link('device', 'mallory', BY_SERVER);
  expect(await world.read(world.older.link_id)).toMatchObject({
    status: 'active',
    key_type: 'publishable',
    confirmed_at: expect.any(Date),
  });
  expect(await world.link('device', 'ann', BY_SERVER)).toMatchObject({
    link: { status: 'refused', reason: 'linked_to_another' },
    replaced: null,
  });
  await world.undo(world.older.link_id);
  await world.link('device', 'ann', BY_SERVER);
  expect(await world.link('device', 'bob', BY_SERVER)).toMatchObject({
    link: { status: 'refused' },
  });
});
