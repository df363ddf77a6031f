import { expect, test } from 'vitest';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const post = async (path: string, body: string): Promise<void> => {
  const { status } = await api.call('POST', path, { key: api.project.server_key, body });
  expect(status).toBe(202);
};
const get = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;

/** In the order in which Postgres keeps members, so that the texts can be compared. */
const PROPERTIES =
  '{"toString":true,"__proto__":"p","prototype":1,"constructor":"c","hasOwnProperty":"h"}';
const TRAITS =
  '{"plan":{"list":[{"__proto__":null}],"__proto__":{"is_admin":true}},"toString":1,' +
  '"__proto__":{"is_admin":true},"prototype":"t","constructor":["c"]}';

test('200: properties come back as they were sent, whatever their names mean to JavaScript', async () => {
  await post(
    '/v1/events',
    `{"event":"named","external_id":"ann","message_id":"named","properties":${PROPERTIES}}`,
  );
  await api.processEvents();
  const { items } = await get('/v1/profiles/external_id:ann/events');
  expect(JSON.stringify(items[0].properties)).toBe(PROPERTIES);
});

test('200: traits come back as they were told, on every level', async () => {
  await post('/v1/identify', `{"external_id":"bob","traits":${TRAITS}}`);
  const profile = await get('/v1/profiles/external_id:bob');
  expect(JSON.stringify(profile.traits)).toBe(TRAITS);
  expect(profile.traits.is_admin).toBeUndefined();
});

test('200: such a trait is changed and removed like any other', async () => {
  const told = async (trait: string): Promise<string> => {
    await post('/v1/identify', `{"external_id":"eve","traits":{"__proto__":${trait}}}`);
    return JSON.stringify((await get('/v1/profiles/external_id:eve')).traits);
  };
  expect(await told('"first"')).toBe('{"__proto__":"first"}');
  expect(await told('["second"]')).toBe('{"__proto__":["second"]}');
  expect(await told('null')).toBe('{}');
});

test('200: a person found by address or by undoing a link shows them too', async () => {
  await post(
    '/v1/identify',
    '{"external_id":"joe","anonymous_id":"device","traits":{"email":"joe@people.test","__proto__":1}}',
  );
  const { items } = await get('/v1/profiles?email=joe@people.test');
  const [link] = (await get('/v1/identity-links')).items.filter(
    (one: { external_id: string }) => one.external_id === 'joe',
  );
  const undone = await api.call('POST', `/v1/identity-links/${link.id}/undo`, {
    key: api.project.server_key,
  });
  const joe = undone.body.profiles.find(
    (one: { external_id: string | null }) => one.external_id === 'joe',
  );
  for (const profile of [items[0], joe])
    expect(JSON.stringify(profile.traits)).toBe('{"email":"joe@people.test","__proto__":1}');
});
