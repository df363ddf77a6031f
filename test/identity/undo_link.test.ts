import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const at = new Date('2026-03-01T00:00:00Z');

const linkPair = async (scope: Scope) => {
  const wish = { anonymous_id: 'device', external_id: 'ann' };
  const made = await identity.link(scope, { ...wish, source: 'alias', key_type: 'server' });
  if (!made) throw new Error('somebody is being erased');
  return made.link;
};

const newLink = async () => {
  const projectId = newId();
  const link = await inProject(database.deps, projectId, async (scope) => {
    for (const [kind, value] of [
      ['anonymous', 'device'],
      ['external', 'ann'],
    ] as const) {
      await identity.see(scope, [{ kind, value, first_seen_at: at, last_seen_at: at }]);
    }
    return linkPair(scope);
  });
  return { projectId, link };
};

const unlink = async (projectId: string, linkId: string): Promise<boolean> => {
  const { isUndone } = await inProject(database.deps, projectId, (scope) =>
    identity.unlink(scope, linkId, 'ann the admin'),
  );
  return isUndone;
};

test('the anonymous identity goes back to a profile of its own, and the log says who did it', async () => {
  const { projectId, link } = await newLink();
  expect(await unlink(projectId, link.link_id)).toBe(true);
  const [device, row] = await inProject(database.deps, projectId, async (scope) => [
    await identity.findByValue(scope, 'anonymous', 'device'),
    await identity.findLink(scope, link.link_id),
  ]);
  expect(device).toMatchObject({ profile_id: link.anonymous_profile_id });
  expect(row).toMatchObject({
    status: 'undone',
    undone_by: 'ann the admin',
    undone_at: expect.any(Date),
  });
});

test('twice, or at once from several, it is cut once', async () => {
  const { projectId, link } = await newLink();
  const cut = await Promise.all(Array.from({ length: 6 }, () => unlink(projectId, link.link_id)));
  expect(cut.filter(Boolean)).toHaveLength(1);
  expect(await unlink(projectId, link.link_id)).toBe(false);
});

test('a link of another project, or none, cuts nothing', async () => {
  const { projectId, link } = await newLink();
  expect(await unlink(newId(), link.link_id)).toBe(false);
  expect(await unlink(projectId, newId())).toBe(false);
  const row = await inProject(database.deps, projectId, (scope) =>
    identity.findLink(scope, link.link_id),
  );
  expect(row?.status).toBe('active');
});

test('an old undone link does not cut the one that came after it', async () => {
  const { projectId, link } = await newLink();
  await unlink(projectId, link.link_id);
  const second = await inProject(database.deps, projectId, linkPair);
  expect(await unlink(projectId, link.link_id)).toBe(false);
  const device = await inProject(database.deps, projectId, (scope) =>
    identity.findByValue(scope, 'anonymous', 'device'),
  );
  expect(device?.profile_id).toBe(second.profile_id);
});
