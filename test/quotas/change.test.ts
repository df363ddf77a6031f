// An owner changes the daily quotas of publishable keys: null is no quota, 0 allows nothing.
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { NEW_PROFILES_MAX, STORED_BYTES_MAX } from '../../src/quotas/schema.ts';
import { testAdmin } from '../support/admin.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

type Quotas = { newProfilesPerDay: number | null; storedBytesPerDay: number | null };
const NONE: Quotas = { newProfilesPerDay: null, storedBytesPerDay: null };

const openShop = async () => {
  const project = await createProject(database.deps, 'shop');
  const { project_id: projectId, publishable_key: key } = project;
  const cookie = await admin.openSession();
  const change = (given: Quotas) =>
    admin.call('quotas.change', { type: 'mutation', cookie, input: { projectId, ...given } });
  const read = async () => {
    const asked = { type: 'query', cookie, input: { projectId, keyIds: [] } } as const;
    return (await admin.call('quotas.read', asked)).body.result.data;
  };
  const identify = (given: object) => api.call('POST', '/v1/identify', { key, body: given });
  const view = (anonymous_id: string) =>
    api.call('POST', '/v1/events', { key, body: { event: 'page_viewed', anonymous_id } });
  return { change, read, identify, view };
};

test('0 new profiles: no browser adds a person, and a linked one goes on', async () => {
  const { change, read, identify, view } = await openShop();
  const linked = { external_id: 'ann', anonymous_id: 'browser of ann' };
  expect((await identify(linked)).status).toBe(202);
  expect((await change({ ...NONE, newProfilesPerDay: 0 })).status).toBe(200);
  expect(await read()).toMatchObject({ new_profiles_per_day: 0, stored_bytes_per_day: null });
  expectRefusal(await identify({ external_id: 'ben' }), 'quota_exceeded');
  const refused = await view('new');
  expectRefusal(refused, 'quota_exceeded');
  expect(refused.body.detail).toContain('quota of 0 new profiles');
  expect((await identify(linked)).status).toBe(202);
  expect((await view('browser of ann')).status).toBe(202);
});

test('0 stored bytes: the key stores nothing, and 0 of both is kept as it is', async () => {
  const { change, read, identify, view } = await openShop();
  expect((await change({ newProfilesPerDay: 0, storedBytesPerDay: 0 })).status).toBe(200);
  expect(await read()).toMatchObject({ new_profiles_per_day: 0, stored_bytes_per_day: 0 });
  for (const answer of [await view('new'), await identify({ external_id: 'ann' })]) {
    expectRefusal(answer, 'quota_exceeded');
    expect(answer.body.reason).toBe('stored_bytes');
  }
});

test('null is no quota, also after 0', async () => {
  const { change, read, view } = await openShop();
  await change({ newProfilesPerDay: 0, storedBytesPerDay: 0 });
  expectRefusal(await view('new'), 'quota_exceeded');
  expect((await change(NONE)).status).toBe(200);
  expect(await read()).toMatchObject({ new_profiles_per_day: null, stored_bytes_per_day: null });
  for (let at = 0; at < 20; at += 1) expect((await view(`device ${at}`)).status).toBe(202);
});

test('a raised quota opens at once what was closed', async () => {
  const { change, identify, view } = await openShop();
  await change({ ...NONE, newProfilesPerDay: 1 });
  expect((await identify({ external_id: 'ann' })).status).toBe(202);
  expectRefusal(await view('new'), 'quota_exceeded');
  await change({ ...NONE, newProfilesPerDay: 2 });
  expect((await view('new')).status).toBe(202);
  expectRefusal(await view('newer'), 'quota_exceeded');
});

test.each([
  [{ newProfilesPerDay: NEW_PROFILES_MAX, storedBytesPerDay: STORED_BYTES_MAX }, 200],
  [{ newProfilesPerDay: NEW_PROFILES_MAX + 1, storedBytesPerDay: null }, 400],
  [{ newProfilesPerDay: null, storedBytesPerDay: STORED_BYTES_MAX + 1 }, 400],
  [{ newProfilesPerDay: -1, storedBytesPerDay: null }, 400],
  [{ newProfilesPerDay: null, storedBytesPerDay: 0.5 }, 400],
])('%j is answered %i', async (given, status) => {
  const { change } = await openShop();
  expect((await change(given)).status).toBe(status);
});
