import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import {
  createProject,
  everyProject,
  findCaller,
  issueKey,
  KEY_CACHE_MS,
  listKeys,
  revokeKey,
} from '../../src/projects/projects.ts';
import { testApi, expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const NOW = 1_800_000_000_000;

const list = (projectId: string, limit = 50, beforeId: string | null = null) =>
  listKeys(database.deps.db, projectId, { limit, beforeId });
/** The id of the key that a token belongs to, by the four characters that are shown of it. */
const idOf = async (projectId: string, token: string): Promise<string> => {
  const found = (await list(projectId)).find(({ last_four }) => last_four === token.slice(-4));
  return found?.key_id ?? 'none';
};

test('keys are listed newest first, live and revoked, and never with their token', async () => {
  const { project_id, ...tokens } = await createProject(database.deps, 'listed');
  const second = await issueKey(database.deps, project_id, 'server');
  await revokeKey(database.deps, project_id, await idOf(project_id, tokens.server_key));
  const keys = await list(project_id);
  const line = (kind: string, token: string, revoked_at: unknown = null) => ({
    key_id: expect.any(String),
    kind,
    last_four: token.slice(-4),
    created_at: expect.any(Date),
    revoked_at,
  });
  expect(keys).toEqual([
    line('server', second),
    line('hook', tokens.hook_token),
    line('server', tokens.server_key, expect.any(Date)),
    line('publishable', tokens.publishable_key),
  ]);
  for (const token of [second, ...Object.values(tokens)])
    expect(JSON.stringify(keys)).not.toContain(token.slice(0, -4));
});

test('a page of keys goes on where the one before ended', async () => {
  const { project_id } = await createProject(database.deps, 'paged');
  const all = await list(project_id);
  const first = await list(project_id, 2);
  expect([...first, ...(await list(project_id, 2, first.at(-1)?.key_id ?? null))]).toEqual(all);
  expect(await list(newId())).toEqual([]);
});

test('rotation: the new key works beside the old one, until the old one is revoked', async () => {
  const { project_id, server_key: old } = await createProject(database.deps, 'rotating');
  const news = await issueKey(database.deps, project_id, 'server');
  const read = (key: string) => api.call('GET', '/v1/sends', { key });
  expect([(await read(old)).status, (await read(news)).status]).toEqual([200, 200]);
  const revoked = await revokeKey(database.deps, project_id, await idOf(project_id, old));
  expect(revoked).toMatchObject({ last_four: old.slice(-4), revoked_at: expect.any(Date) });
  expectRefusal(await read(old), 'invalid_token');
  expect((await read(news)).status).toBe(200);
});

test('revocation works at once here, and in every other process within the time a key is known', async () => {
  const { project_id, server_key } = await createProject(database.deps, 'two processes');
  const other = { ...database.deps, resources: new Resources() };
  for (const deps of [database.deps, other]) await findCaller(deps, server_key, { now: NOW });
  await revokeKey(database.deps, project_id, await idOf(project_id, server_key));
  expect(await findCaller(database.deps, server_key, { now: NOW })).toBeNull();
  expect(await findCaller(other, server_key, { now: NOW + KEY_CACHE_MS })).toBeNull();
  expect(KEY_CACHE_MS).toBeLessThanOrEqual(60_000);
});

test('revoking twice is revoking once: the first time stays', async () => {
  const { project_id, server_key } = await createProject(database.deps, 'twice');
  const keyId = await idOf(project_id, server_key);
  const [first, second] = [
    await revokeKey(database.deps, project_id, keyId),
    await revokeKey(database.deps, project_id, keyId),
  ];
  expect(second).toEqual(first);
});

test('nobody revokes the key of another project, or one that there is not', async () => {
  const { project_id, server_key } = await createProject(database.deps, 'mine');
  const other = await createProject(database.deps, 'theirs');
  const keyId = await idOf(project_id, server_key);
  expect(await revokeKey(database.deps, other.project_id, keyId)).toBeNull();
  expect(await revokeKey(database.deps, project_id, newId())).toBeNull();
  expect(await findCaller(database.deps, server_key)).not.toBeNull();
});

test('every project is visited once, however many pages that takes', async () => {
  const before = await database.owner.query<{ project_id: string }>(
    'select project_id from projects.projects',
  );
  await database.owner.query(
    `insert into projects.projects (project_id, name, created_at)
    select gen_random_uuid(), 'one of many', now() from generate_series(1, 450)`,
  );
  const seen: string[] = [];
  for await (const projectId of everyProject(database.deps)) seen.push(projectId);
  expect(seen).toHaveLength((before.rowCount ?? 0) + 450);
  expect(new Set(seen).size).toBe(seen.length);
});
