// A server's word outranks a link that only a browser vouches for.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { BY_SERVER, identitiesOf, openPreLinked } from './linked.ts';

const database = testDatabase();

test.each(['identify', 'alias'] as const)(
  'attack: a device is pre-linked to the attacker; the %s of a server takes it back',
  async (source) => {
    const world = await openPreLinked(database);
    const made = await world.link('device', 'ann', { source, key_type: 'server' });
    expect(made).toMatchObject({
      isNew: true,
      link: { status: 'active', replaces: world.older.link_id, replaced_by: null },
      replaced: {
        link_id: world.older.link_id,
        status: 'undone',
        undone_by: 'server_link',
        undone_at: made.link.created_at,
        replaced_by: made.link.link_id,
      },
    });
    expect(await world.isOf('ann')).toBe(true);
    expect(await world.link('device', 'ann', { source, key_type: 'server' })).toEqual({
      link: made.link,
      isNew: false,
      replaced: null,
    });
  },
);

test('a browser replaces no link, whichever key made it', async () => {
  const world = await openPreLinked(database);
  expect(await world.link('device', 'ann')).toMatchObject({ link: { status: 'refused' } });
  await world.link('device', 'ann', BY_SERVER);
  expect(await world.link('device', 'mallory')).toMatchObject({
    link: { status: 'refused', reason: 'linked_to_another' },
  });
  expect(await world.isOf('ann')).toBe(true);
});

test('replaced, restored and replaced again, the device follows the server’s last word', async () => {
  const world = await openPreLinked(database);
  const { link: first } = await world.link('device', 'ann', BY_SERVER);
  await world.undo(first.link_id);
  const { link: second } = await world.link('device', 'bob', BY_SERVER);
  expect(second.replaces).toBe(world.older.link_id);
  await world.undo(first.link_id);
  expect(await world.isOf('bob')).toBe(true);
  await world.undo(second.link_id);
  expect(await world.isOf('mallory')).toBe(true);
});

test('servers, browsers and undos of the same ids at once end without a deadlock, as the log says', async () => {
  const projectId = newId();
  const world = identitiesOf(database, projectId);
  const [devices, people] = [
    ['d1', 'd2', 'd3'],
    ['ann', 'bob', 'cid'],
  ];
  await world.see('anonymous', ...devices);
  await world.see('external', ...people);
  await Promise.all(
    Array.from({ length: 48 }, async (_, round) => {
      const [device = '', person = ''] = [devices[round % 3], people[(round >> 1) % 3]];
      const made = await world.join(device, person, round % 2 === 0 ? {} : BY_SERVER);
      if (round % 5 === 0 && made) await world.undo(made.link_id);
    }),
  );
  const { rows } = await database.owner.query(
    `select known.value, known.profile_id = coalesce(link.profile_id, known.own_profile_id) as agrees,
       own.merged_into is not distinct from link.profile_id as is_marked
     from identity.identities as known
     join profiles.profiles as own on own.project_id = known.project_id and own.profile_id = known.own_profile_id
     left join identity.links as link on link.project_id = known.project_id
       and link.anonymous_identity_id = known.identity_id and link.status = 'active'
     where known.project_id = $1 and known.kind = 'anonymous'`,
    [projectId],
  );
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatchObject({ agrees: true, is_marked: true });
});
