import { expect, test } from 'vitest';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const post = (path: string, body: string, key = api.project.server_key) =>
  api.call('POST', path, { key, body });

test.each([
  ['/v1/events', '{"event":"a","external_id":"ann","external_id":"bob"}', '/external_id'],
  [
    '/v1/events/batch',
    '{"events":[{"event":"a","external_id":"ann","properties":{"n":1,"n":2}}]}',
    '/events/0/properties/n',
  ],
  ['/v1/identify', '{"external_id":"ann","traits":{"a/b":[{"x":1,"x":1}]}}', '/traits/a~1b/0/x'],
])('400 invalid_request: %s names a member that stands twice', async (path, body, at) => {
  expect(expectRefusal(await post(path, body), 'invalid_request')).toEqual([
    { path: at, message: 'given more than once' },
  ]);
});

test('200: a webhook is read all the same, by the last of the two: a provider writes as it likes', async () => {
  const path = `/v1/webhooks/smtp/${api.project.project_id}`;
  const body = '{"event":"open","email":"bob@example.com","event":"complaint","id":1,"id":2}';
  expect((await post(path, body, api.project.hook_token)).status).toBe(200);
  const { body: address } = await api.call('GET', '/v1/suppressions/bob@example.com', {
    key: api.project.server_key,
  });
  expect(address.suppressed).toMatchObject({ reason: 'complaint' });
});
