import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { BODY_BYTES_DEFAULT } from '../../src/base/route.ts';
import { digestOf, REASON_CHARS_MAX, requestErasure } from '../../src/profiles/erasures.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { runErasure } from '../support/erase.ts';

const database = testDatabase();
const api = testApi(database);

const post = (path: string, call: Call = {}) =>
  api.call('POST', path, { key: api.project.server_key, body: {}, ...call });
const get = (path: string, key = api.project.server_key) => api.call('GET', path, { key });
const eraseOf = (id: string) => `/v1/profiles/${id}/erase`;
const run = (erasureId: string) => runErasure(database, api.project.project_id, erasureId);

/** A new person, known by an id and a device; answers both and the profile's id. */
const someone = async () => {
  const [id, device] = [newId(), newId()];
  await post('/v1/identify', { body: { external_id: id, anonymous_id: device } });
  const { body } = await get(`/v1/profiles/external_id:${id}`);
  return { id, device, profileId: body.id as string };
};

describe('202', () => {
  test('an erasure that is pending, by the id of the profile or your own', async () => {
    const { id, profileId } = await someone();
    const { status, body } = await post(eraseOf(`external_id:${id}`), {
      body: { reason: 'asked' },
    });
    expect(status).toBe(202);
    expect(body.erasure).toEqual({
      id: expect.any(String),
      profile_id: profileId,
      status: 'pending',
      reason: 'asked',
      requested_at: expect.any(String),
      done_at: null,
      receipt: null,
    });
    expect((await get(`/v1/erasures/${body.erasure.id}`)).body).toEqual(body.erasure);
    const other = await someone();
    expect((await post(eraseOf(other.profileId))).status).toBe(202);
  });

  test('an id that was merged into the person names them', async () => {
    const [id, device] = [newId(), newId()];
    await post('/v1/events', { body: { event: 'page_viewed', anonymous_id: device } });
    await api.processEvents();
    const { body: found } = await get(`/v1/profiles?anonymous_id=${device}`);
    await post('/v1/identify', { body: { external_id: id, anonymous_id: device } });
    const { body: profile } = await get(`/v1/profiles/external_id:${id}`);
    const { body } = await post(eraseOf(found.items[0].id));
    expect(body.erasure.profile_id).toBe(profile.id);
  });

  test('from then on nobody is shown the person, by whatever name', async () => {
    const { id, device, profileId } = await someone();
    await post(eraseOf(profileId));
    for (const path of [
      profileId,
      `external_id:${id}`,
      `${profileId}/events`,
      `${profileId}/export`,
    ])
      expectRefusal(await get(`/v1/profiles/${path}`), 'not_found');
    for (const query of [`external_id=${id}`, `anonymous_id=${device}`])
      expect((await get(`/v1/profiles?${query}`)).body.items).toEqual([]);
  });

  test('asking again is answered the same: pending by any name, done by the id of the profile', async () => {
    const { id, profileId } = await someone();
    const { body: first } = await post(eraseOf(profileId), { body: { reason: 'asked' } });
    for (const name of [profileId, `external_id:${id}`])
      expect((await post(eraseOf(name))).body).toEqual(first);

    await run(first.erasure.id);
    const { status, body: again } = await post(eraseOf(profileId));
    expect(status).toBe(202);
    expect(again.erasure).toMatchObject({ id: first.erasure.id, status: 'done' });
    expectRefusal(await post(eraseOf(`external_id:${id}`)), 'not_found');
  });

  test('two that ask at once are answered the same', async () => {
    const { profileId } = await someone();
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(eraseOf(profileId))));
    expect(new Set(answers.map(({ body }) => body.erasure.id)).size).toBe(1);
  });

  test('the same request with its Idempotency-Key is told how it stands, also when the person is gone', async () => {
    const { id } = await someone();
    const request = { headers: { 'idempotency-key': newId() } };
    const first = await post(eraseOf(`external_id:${id}`), request);
    await run(first.body.erasure.id);
    const again = await post(eraseOf(`external_id:${id}`), request);
    const { id: erasureId } = first.body.erasure as { id: string };
    expect(again).toMatchObject({
      status: 202,
      body: { erasure: { id: erasureId, status: 'done' } },
    });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('a new person under the same id is erased anew', async () => {
    const { id, profileId } = await someone();
    const { body: first } = await post(eraseOf(profileId));
    await run(first.erasure.id);
    await post('/v1/identify', { body: { external_id: id } });
    const { body: second } = await post(eraseOf(`external_id:${id}`));
    expect(second.erasure.id).not.toBe(first.erasure.id);
    expect(second.erasure).toMatchObject({ status: 'pending' });
  });

  test('once done, the reason is gone and the receipt has the digest of its numbers', async () => {
    const { profileId } = await someone();
    const { body } = await post(eraseOf(profileId), { body: { reason: 'asked' } });
    await run(body.erasure.id);
    const { status, body: done } = await get(`/v1/erasures/${body.erasure.id}`);
    expect(status).toBe(200);
    expect(done).toMatchObject({ status: 'done', requested_at: body.erasure.requested_at });
    expect(done).not.toHaveProperty('reason');
    expect(done.receipt.tables).toMatchObject({
      'identity.identities': 2,
      'identity.links': 1,
      'profiles.profiles': 2,
      'profiles.erasures': 1,
      'ingest.events': 0,
    });
    const said = {
      erasureId: done.id,
      profileId,
      requestedAt: new Date(done.requested_at),
      doneAt: new Date(done.done_at),
    };
    const scope = { keys: database.deps.keys, projectId: api.project.project_id };
    expect(done.receipt.digest).toBe(digestOf(scope, said, done.receipt.tables));
    const other = { ...done.receipt.tables, 'ingest.events': 1 };
    expect(done.receipt.digest).not.toBe(digestOf(scope, said, other));
  });

  test('a reason of the greatest length is taken', async () => {
    const { profileId } = await someone();
    const reason = 'x'.repeat(REASON_CHARS_MAX);
    const { status, body } = await post(eraseOf(profileId), { body: { reason } });
    expect([status, body.erasure.reason]).toEqual([202, reason]);
  });
});

describe('refusals', () => {
  let profileId: string;
  beforeAll(async () => {
    ({ profileId } = await someone());
  });

  test.each([
    ['too long', { reason: 'x'.repeat(REASON_CHARS_MAX + 1) }],
    ['empty', { reason: '' }],
    ['not storable', { reason: 'a\u0000b' }],
    ['no text', { reason: 7 }],
  ])('400 invalid_request: a reason that is %s', async (_what, body) => {
    const issues = expectRefusal(await post(eraseOf(profileId), { body }), 'invalid_request');
    expect(issues.map(({ path }) => path)).toEqual(['/reason']);
  });

  test('400: a member too many, or no JSON', async () => {
    expectRefusal(await post(eraseOf(profileId), { body: { why: 'x' } }), 'invalid_request');
    expectRefusal(await post(eraseOf(profileId), { body: '{' }), 'invalid_json');
  });

  test('401 invalid_token', async () => {
    expectRefusal(await post(eraseOf(profileId), { key: null }), 'invalid_token');
    expectRefusal(await get(`/v1/erasures/${newId()}`, 'svc_secret_live_x'), 'invalid_token');
  });

  test('403 wrong_key_type: a publishable key erases nobody and reads no erasure', async () => {
    const key = api.project.publishable_key;
    expectRefusal(await post(eraseOf(profileId), { key }), 'wrong_key_type');
    expectRefusal(await get(`/v1/erasures/${newId()}`, key), 'wrong_key_type');
  });

  test('404 not_found: nobody, somebody of another project, and what names nothing', async () => {
    const other = await createProject(database.deps, 'other');
    const foreign = await post(eraseOf(profileId), { key: other.server_key });
    const unknown = await post(eraseOf(newId()));
    expectRefusal(foreign, 'not_found');
    expectRefusal(unknown, 'not_found');
    const { request_id: _, ...said } = foreign.body;
    expect(unknown.body).toMatchObject(said);
    for (const id of ['x', 'external_id:nobody'])
      expectRefusal(await post(eraseOf(id)), 'not_found');

    const { profileId: gone } = await someone();
    const { body } = await post(eraseOf(gone));
    expectRefusal(await get(`/v1/erasures/${body.erasure.id}`, other.server_key), 'not_found');
    expectRefusal(await get(`/v1/erasures/${newId()}`), 'not_found');
    expectRefusal(await get('/v1/erasures/x'), 'not_found');
  });

  test('404 not_found: a profile that was merged away between the look and the lock', async () => {
    const { project_id } = api.project;
    const asked = inProject(database.deps, project_id, (scope) =>
      requestErasure(scope, newId(), null),
    );
    await expect(asked).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('413 body_too_large', async () => {
    const body = { reason: 'x'.repeat(BODY_BYTES_DEFAULT) };
    expectRefusal(await post(eraseOf(profileId), { body }), 'body_too_large');
  });

  test('415 unsupported_media_type', async () => {
    const asked = await post(eraseOf(profileId), { body: '{}', contentType: 'text/plain' });
    expectRefusal(asked, 'unsupported_media_type');
  });
});
