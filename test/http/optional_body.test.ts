// Endpoints that need nothing besides their path: no body is fine, and one that says anything else is not.
import { beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const post = (path: string, call: Call = {}) =>
  api.call('POST', path, { key: api.project.server_key, ...call });

let erase = '';
let undo = '';
beforeEach(async () => {
  const [ann, device] = [newId(), newId()];
  const body = { anonymous_id: device, external_id: ann };
  const linked = await post('/v1/identify/alias', { body });
  undo = `/v1/identity-links/${linked.body.link.id}/undo`;
  erase = `/v1/profiles/${linked.body.link.profile_id}/erase`;
});

describe.each([
  ['an undo', () => undo, 200],
  ['an erase', () => erase, 202],
])('%s', (_what, path, status) => {
  test('goes without a body, with an empty one, and with an empty object', async () => {
    expect((await post(path())).status).toBe(status);
    expect((await post(path(), { body: '', contentType: null })).status).toBe(status);
    expect((await post(path(), { body: '' })).status).toBe(status);
    expect((await post(path(), { body: {} })).status).toBe(status);
  });

  test('400 invalid_request: a member that it does not know', async () => {
    expect(expectRefusal(await post(path(), { body: { why: 'x' } }), 'invalid_request')).toEqual([
      { path: '/why', message: 'unknown member: check the spelling, or remove it' },
    ]);
  });

  test('400 invalid_request: another kind of value; 400 invalid_json: none at all', async () => {
    expectRefusal(await post(path(), { body: '[]' }), 'invalid_request');
    expectRefusal(await post(path(), { body: '{' }), 'invalid_json');
  });

  test('415 unsupported_media_type: a body that is not said to be JSON', async () => {
    const given = { body: '{}', contentType: 'text/plain' };
    expectRefusal(await post(path(), given), 'unsupported_media_type');
  });

  test('413 body_too_large', async () => {
    expectRefusal(await post(path(), { body: ' '.repeat(70_000) }), 'body_too_large');
  });
});
