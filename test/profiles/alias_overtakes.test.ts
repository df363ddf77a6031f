// A link that is made before the worker has seen the people it names: they are seen when they were seen.
import { expect, test } from 'vitest';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString();
const THE_DAY_BEFORE = new Date(Date.now() - 2 * DAY_MS).toISOString();

const call = async (method: string, path: string, body?: object) => {
  const key = api.project.server_key;
  return (await api.call(method, path, { key, ...(body ? { body } : {}) })).body;
};
const track = (who: object, occurred_at: string) =>
  call('POST', '/v1/events', { event: 'page_viewed', ...who, occurred_at });
const alias = async (anonymous_id: string, external_id: string) =>
  (await call('POST', '/v1/identify/alias', { anonymous_id, external_id })).link;
const find = async (by: string, value: string) =>
  (await call('GET', `/v1/profiles?${by}=${value}`)).items[0];

test('events of yesterday that are processed after the link are of yesterday', async () => {
  await track({ external_id: 'ann' }, YESTERDAY);
  await track({ anonymous_id: 'd1' }, THE_DAY_BEFORE);
  const link = await alias('d1', 'ann');
  await api.processEvents();
  expect(await find('external_id', 'ann')).toMatchObject({
    identifiers: [
      { value: 'ann', first_seen_at: YESTERDAY },
      { value: 'd1', first_seen_at: THE_DAY_BEFORE },
    ],
    first_seen_at: THE_DAY_BEFORE,
    last_seen_at: YESTERDAY,
  });

  const { profiles } = await call('POST', `/v1/identity-links/${link.id}/undo`);
  expect(profiles).toMatchObject([
    { first_seen_at: YESTERDAY, last_seen_at: YESTERDAY },
    { first_seen_at: THE_DAY_BEFORE, last_seen_at: THE_DAY_BEFORE },
  ]);
});

test('nobody has seen either: both show when they became known, the same at every look', async () => {
  const before = new Date().toISOString();
  const link = await alias('d2', 'bob');
  const bob = await find('external_id', 'bob');
  for (const time of [
    bob.first_seen_at,
    bob.last_seen_at,
    ...bob.identifiers.map((one: { first_seen_at: string }) => one.first_seen_at),
  ]) {
    expect(time >= before).toBe(true);
    expect(time <= link.created_at || time <= new Date().toISOString()).toBe(true);
  }
  await alias('d2', 'bob');
  expect(await find('anonymous_id', 'd2')).toEqual(bob);
});

test('of two the one that was seen says when; the other became known with the link', async () => {
  await alias('d3', 'cid');
  await track({ anonymous_id: 'd3' }, YESTERDAY);
  await api.processEvents();
  const cid = await find('external_id', 'cid');
  expect(cid).toMatchObject({ first_seen_at: YESTERDAY, last_seen_at: YESTERDAY });
  expect(cid.identifiers[0].first_seen_at > YESTERDAY).toBe(true);
});
