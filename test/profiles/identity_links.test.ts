import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { askToErase, runErasure } from '../support/erase.ts';
import { TRIAL } from '../support/recorded.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';

const database = testDatabase();
const api = testApi(database);

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body === undefined ? {} : { body }) });

const alias = (anonymous_id: string, external_id: string) =>
  call('POST', '/v1/identify/alias', { anonymous_id, external_id });

const identify = (body: object) => call('POST', '/v1/identify', body);

test('200: a link is made once, and answered the same again', async () => {
  const first = await alias('d1', 'ann');
  expect(first).toMatchObject({
    status: 200,
    body: {
      link: {
        anonymous_id: 'd1',
        external_id: 'ann',
        source: 'alias',
        key_type: 'server',
        status: 'active',
        undone_at: null,
        undone_by: null,
      },
    },
  });
  expect((await alias('d1', 'ann')).body).toEqual(first.body);
});

test('409 identity_conflict: a device of somebody else, and the wish is logged', async () => {
  await alias('d2', 'ann');
  expectRefusal(await alias('d2', 'bob'), 'identity_conflict');
  const { body } = await call('GET', '/v1/identity-links?status=refused');
  expect(body.items).toMatchObject([{ anonymous_id: 'd2', external_id: 'bob' }]);
});

test('403 wrong_key_type: a page can neither link, nor read, nor undo', async () => {
  const key = api.project.publishable_key;
  for (const [method, path] of [
    ['POST', '/v1/identify/alias'],
    ['GET', '/v1/identity-links'],
    ['GET', `/v1/identity-links/${newId()}`],
    ['POST', `/v1/identity-links/${newId()}/undo`],
  ] as const) {
    expectRefusal(await api.call(method, path, { key }), 'wrong_key_type');
  }
});

test('400 invalid_request: what is no pair', async () => {
  expectRefusal(await call('POST', '/v1/identify/alias', { anonymous_id: 'd' }), 'invalid_request');
  expectRefusal(await alias('', 'ann'), 'invalid_request');
  expectRefusal(await alias('d', 'undefined'), 'invalid_request');
});

test('404 not_found: a link that is not this project’s', async () => {
  for (const id of [newId(), 'nonsense']) {
    expectRefusal(await call('GET', `/v1/identity-links/${id}`), 'not_found');
    expectRefusal(await call('POST', `/v1/identity-links/${id}/undo`), 'not_found');
  }
});

test('200: undone, both people are what they were, also with what came meanwhile', async () => {
  await identify({ external_id: 'carol', traits: { plan: 'pro' } });
  const { body: made } = await alias('d3', 'carol');
  const { link } = made;
  await call('POST', '/v1/events', { event: 'page_viewed', anonymous_id: 'd3' });
  await api.processEvents();

  const { status, body } = await call('POST', `/v1/identity-links/${link.id}/undo`);
  expect(status).toBe(200);
  expect(body.link).toMatchObject({ status: 'undone', undone_by: 'server_key' });
  const values = body.profiles.map((one: { identifiers: { value: string }[] }) =>
    one.identifiers.map(({ value }) => value),
  );
  expect(values).toEqual([['carol'], ['d3']]);
  const { body: timeline } = await call('GET', `/v1/profiles/${body.profiles[1].id}/events`);
  expect(timeline.items).toMatchObject([{ event: 'page_viewed', anonymous_id: 'd3' }]);

  const again = await call('POST', `/v1/identity-links/${link.id}/undo`);
  expect([again.status, again.body]).toEqual([200, body]);
});

test('200: a profile that was merged is found by its old id as the one it became', async () => {
  await call('POST', '/v1/events', { event: 'page_viewed', anonymous_id: 'd4' });
  await api.processEvents();
  const { body: found } = await call('GET', '/v1/profiles?anonymous_id=d4');
  await alias('d4', 'dave');
  const { body: merged } = await call('GET', `/v1/profiles/${found.items[0].id}`);
  expect(merged.external_id).toBe('dave');
});

test('200: pages of the log, by profile and by status', async () => {
  for (const device of ['e1', 'e2', 'e3']) await alias(device, 'erin');
  const { body: erin } = await call('GET', '/v1/profiles?external_id=erin');
  const query = `profile_id=${erin.items[0].id}&limit=2`;
  const { body: first } = await call('GET', `/v1/identity-links?${query}`);
  const { body: second } = await call(
    'GET',
    `/v1/identity-links?${query}&cursor=${first.next_cursor}`,
  );
  const devices = [...first.items, ...second.items].map(
    ({ anonymous_id }: { anonymous_id: string }) => anonymous_id,
  );
  expect(devices).toEqual(['e3', 'e2', 'e1']);
  expect(second.next_cursor).toBeNull();
  const { body: none } = await call('GET', `/v1/identity-links?${query}&status=undone`);
  expect(none.items).toEqual([]);
});

test('409 being_erased: who is being erased is linked to nobody, until that is done', async () => {
  await identify({ external_id: 'going' });
  const { body: profile } = await call('GET', '/v1/profiles/external_id:going');
  const { body } = await call('POST', `/v1/profiles/${profile.id}/erase`, {});
  expectRefusal(await alias('d-of-going', 'going'), 'being_erased');
  expect(await identify({ external_id: 'going', anonymous_id: 'd-of-going' })).toMatchObject({
    status: 202,
  });
  const { body: links } = await call('GET', '/v1/identity-links');
  expect(JSON.stringify(links)).not.toContain('going');
  await runErasure(database, api.project.project_id, body.erasure.id);
  expect(await alias('d-of-going', 'going')).toMatchObject({ status: 200 });
});

test('404 not_found: a link whose people are erased while it is being undone', async () => {
  const { body } = await alias('d-erased', 'erased');
  const { id, profile_id } = body.link;
  const erasureId = await askToErase(database, api.project.project_id, profile_id);
  // Whoever undoes has found the link, and waits for its device; the erase ends meanwhile.
  const holder = await connectTo(database, api.project.project_id);
  await holder.query('begin');
  await holder.query(
    `select from identity.identities where value = 'd-erased' for update ${TRIAL}`,
  );
  const undoing = call('POST', `/v1/identity-links/${id}/undo`, {});
  await untilWaiting(database);
  await holder.query(`delete from identity.links where link_id = $1 ${TRIAL}`, [id]);
  await holder.query('commit');
  expectRefusal(await undoing, 'not_found');
  await runErasure(database, api.project.project_id, erasureId);
});
