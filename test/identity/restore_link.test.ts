// Undoing a server's link brings the browser's link back that it had replaced.
import { expect, test } from 'vitest';
import * as identity from '../../src/identity/identity.ts';
import { testDatabase } from '../support/database.ts';
import { BY_SERVER, openPreLinked } from './linked.ts';

const database = testDatabase();

test('the undo of the server’s link makes the browser’s active again, as it was', async () => {
  const world = await openPreLinked(database);
  const { link } = await world.link('device', 'ann', BY_SERVER);
  const undone = await world.within((scope) => identity.unlink(scope, link.link_id, 'console'));
  expect(undone).toEqual({ isUndone: true, restored: world.older });
  expect(await world.isOf('mallory')).toBe(true);
  expect(await world.read(link.link_id)).toMatchObject({
    status: 'undone',
    undone_by: 'console',
    replaces: world.older.link_id,
  });
  const again = await world.within((scope) => identity.unlink(scope, link.link_id, 'console'));
  expect(again).toEqual({ isUndone: false, restored: null });
});

test('what a person undid meanwhile does not come back', async () => {
  const world = await openPreLinked(database);
  const { link } = await world.link('device', 'ann', BY_SERVER);
  expect(await world.undo(world.older.link_id, 'console')).toMatchObject({
    status: 'undone',
    undone_by: 'console',
    replaced_by: null,
  });
  expect(await world.isOf('ann')).toBe(true);
  await world.undo(link.link_id);
  for (const person of ['ann', 'mallory']) expect(await world.isOf(person)).toBe(false);
  expect(await world.link('device', 'mallory')).toMatchObject({
    link: { reason: 'undone_before' },
  });
});

test('what a person undid before is nobody’s until a server links it, and comes back with no undo', async () => {
  const world = await openPreLinked(database);
  await world.undo(world.older.link_id);
  const { link, replaced } = await world.link('device', 'ann', BY_SERVER);
  expect([link.replaces, replaced]).toEqual([null, null]);
  await world.undo(link.link_id);
  for (const person of ['ann', 'mallory']) expect(await world.isOf(person)).toBe(false);
});

test('once the person of the replaced link is gone, the undo leaves the device alone', async () => {
  const world = await openPreLinked(database);
  const { link } = await world.link('device', 'ann', BY_SERVER);
  const mallory = await world.find('external', 'mallory');
  await world.within((scope) =>
    identity.forget(scope, [
      {
        identity_id: mallory?.identity_id ?? '',
        kind: 'external',
        value: 'mallory',
        profile_id: mallory?.profile_id ?? '',
        own_profile_id: mallory?.profile_id ?? '',
        erasure_id: null,
      },
    ]),
  );
  await world.undo(link.link_id);
  expect(await world.isOf('ann')).toBe(false);
  expect(await world.readLog()).toMatchObject([{ link_id: link.link_id, status: 'undone' }]);
});

test.each([
  ['external', 'mallory'],
  ['anonymous', 'device'],
] as const)('while the %s %s is being erased no link comes back', async (kind, value) => {
  const world = await openPreLinked(database);
  const { link } = await world.link('device', 'ann', BY_SERVER);
  await world.erase(kind, value);
  const undone = await world.within((scope) => identity.unlink(scope, link.link_id, 'console'));
  expect(undone).toEqual({ isUndone: true, restored: null });
  for (const person of ['ann', 'mallory']) expect(await world.isOf(person)).toBe(false);
});
