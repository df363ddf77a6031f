// The log of identity links for the Console: found by identifier, state, source and time; previewed and undone.
import { beforeAll, expect, test } from 'vitest';
import { createAdminClient } from '../../src/admin/client.ts';
import type { AdminClient } from '../../src/admin/client.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
let client: AdminClient;
let projectId: string;

type Filter = Omit<Parameters<AdminClient['links']['list']['query']>[0], 'projectId'>;

const post = async (path: string, body: object, key = api.project.server_key) =>
  (await api.call('POST', path, { key, body })).body;
const alias = async (anonymous_id: string, external_id: string): Promise<string | undefined> =>
  (await post('/v1/identify/alias', { anonymous_id, external_id })).link?.id;

const pairs = async (filter: Filter) =>
  (await client.links.list.query({ projectId, ...filter })).items.map(
    ({ anonymous_id, external_id }) => `${anonymous_id}>${external_id}`,
  );

beforeAll(async () => {
  client = createAdminClient({ url: api.url, cookie: await admin.openSession() });
  projectId = api.project.project_id;
  await alias('d1', 'ann');
  await alias('d2', 'ann');
  await post(
    '/v1/identify',
    { anonymous_id: 'd3', external_id: 'bob' },
    api.project.publishable_key,
  );
  await alias('d1', 'bob');
  await alias('ann', 'cid');
});

test('links are found by either identifier, which must be complete', async () => {
  expect(await pairs({})).toEqual(['ann>cid', 'd1>bob', 'd3>bob', 'd2>ann', 'd1>ann']);
  expect(await pairs({ identifier: 'd1' })).toEqual(['d1>bob', 'd1>ann']);
  // As an external id and as an anonymous one: both are shown.
  expect(await pairs({ identifier: ' ann ' })).toEqual(['ann>cid', 'd2>ann', 'd1>ann']);
  expect(await pairs({ identifier: 'an' })).toEqual([]);
});

test('links are found by state, source and profile, together with an identifier', async () => {
  expect(await pairs({ status: 'refused' })).toEqual(['d1>bob']);
  expect(await pairs({ source: 'identify' })).toEqual(['d3>bob']);
  expect(await pairs({ identifier: 'bob', status: 'active' })).toEqual(['d3>bob']);
  const [link] = (await client.links.list.query({ projectId, identifier: 'd2' })).items;
  expect(await pairs({ profileId: link?.profile_id ?? '' })).toEqual(['d2>ann', 'd1>ann']);
});

test('links are found by when they were made: from a moment on, and until another', async () => {
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  expect(await pairs({ from: at(-1), until: at(1) })).toHaveLength(5);
  expect(await pairs({ from: at(1) })).toEqual([]);
  expect(await pairs({ until: at(-1) })).toEqual([]);
});

test('links are read page by page, each once, with the same filter', async () => {
  const first = await client.links.list.query({
    projectId,
    limit: 3,
    until: '2999-01-01T00:00:00Z',
  });
  const cursor = first.next_cursor ?? '';
  const rest = await client.links.list.query({ projectId, limit: 3, cursor });
  expect(rest.next_cursor).toBeNull();
  const ids = [...first.items, ...rest.items].map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect(new Set(ids).size).toBe(5);
});

test('a link is read with its people, previewed, and undone once', async () => {
  const [link] = (await client.links.list.query({ projectId, identifier: 'd2' })).items;
  const asked = { projectId, linkId: link?.id ?? '' };
  const { profiles } = await client.links.read.query(asked);
  expect(profiles.map(({ external_id }) => external_id)).toEqual(['ann', 'ann']);
  const preview = await client.links.preview.query(asked);
  expect(preview.leaves?.identifiers).toEqual([{ kind: 'anonymous', value: 'd2' }]);
  const undone = await client.links.undo.mutate(asked);
  expect(undone.link).toMatchObject({ status: 'undone', undone_by: 'console' });
  expect(undone.profiles.map(({ external_id }) => external_id)).toEqual(['ann', null]);
  expect(await client.links.undo.mutate(asked)).toEqual(undone);
  expect(await client.links.preview.query(asked)).toMatchObject({ is_possible: false });
});

test('a link of another project is not there, nor is one that was never made', async () => {
  const other = await createProject(database.deps, 'elsewhere');
  const [link] = (await client.links.list.query({ projectId })).items;
  for (const asked of [
    { projectId: other.project_id, linkId: link?.id ?? '' },
    { projectId, linkId: newId() },
  ]) {
    await expect(client.links.read.query(asked)).rejects.toThrow('not_found');
    await expect(client.links.preview.query(asked)).rejects.toThrow('not_found');
    await expect(client.links.undo.mutate(asked)).rejects.toThrow('not_found');
  }
  expect((await client.links.list.query({ projectId: other.project_id })).items).toEqual([]);
});

test('traits say who was told them, by which key, and what they override', async () => {
  await post('/v1/identify', { external_id: 'eve', traits: { plan: 'free', city: 'Bern' } });
  await alias('d9', 'eve');
  await database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, 'plan', '"pro"', now() + interval '1 hour', 'publishable'
     from identity.identities where project_id = $1 and identities.value = 'd9'`,
    [projectId],
  );
  const [eve] = (await client.profiles.find.query({ projectId, query: 'eve' })).items;
  const { items } = await client.profiles.origins.query({ projectId, profileId: eve?.id ?? '' });
  const identifier = { kind: 'external', value: 'eve' };
  expect(items).toMatchObject([
    { key: 'city', told: { value: 'Bern', identifier, authority: 'server' }, others: [] },
    {
      key: 'plan',
      told: { value: 'free', identifier, authority: 'server' },
      others: [
        {
          value: 'pro',
          identifier: { kind: 'anonymous', value: 'd9' },
          authority: 'publishable',
        },
      ],
    },
  ]);
});
