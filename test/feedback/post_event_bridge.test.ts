// Events of Amazon SES through EventBridge: an API destination posts them with the webhook token,
// and signs nothing.
import { expect, test } from 'vitest';
import { expectRefusal } from '../support/api.ts';
import { bounceOf, complaintOf, sesWorld } from './ses_world.ts';
import { notificationOf } from './sns_service.ts';
import { someone } from './webhooks_of.ts';

const { api, hooks, confirm, post: postSns, accepted } = sesWorld();

const wrap = (detail: object) => ({
  version: '0',
  id: 'c3d4e5f6-a7b8-4012-8def-123456789012',
  'detail-type': 'Email Bounced',
  source: 'aws.ses',
  account: '123456789012',
  region: 'eu-west-1',
  resources: [],
  detail,
});
const post = (detail: object, token: string | null = api.project.hook_token) =>
  hooks.post('amazon-ses', wrap(detail), {
    key: null,
    ...(token === null ? {} : { headers: { 'x-webhook-token': token } }),
  });

test('200: with the token an event takes effect, once, also beside its notification', async () => {
  const { email, sendId } = await accepted();
  const bounce = bounceOf(email, { sendId });
  expect(await post(bounce)).toMatchObject({ status: 200, body: { received: 1, accepted: 1 } });
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  expect((await post(bounce)).body).toMatchObject({ accepted: 0, duplicates: 1 });
  await confirm();
  expect((await postSns(notificationOf(bounce))).body).toMatchObject({
    accepted: 0,
    duplicates: 1,
  });
});

test('200: only about emails that this project handed to Amazon SES', async () => {
  const email = someone();
  expect((await post(complaintOf(email))).body).toMatchObject({ accepted: 0, ignored: 1 });
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('401 invalid_token: without the token, or with a wrong one, it has no effect', async () => {
  const { email, sendId } = await accepted();
  const bounce = bounceOf(email, { sendId });
  const refused = await post(bounce, null);
  expectRefusal(refused, 'invalid_token');
  expect(refused.body.detail).toMatch(/EventBridge/);
  expectRefusal(await post(bounce, 'svc_hook_live_x'), 'invalid_token');
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('400 invalid_request: an event that reports nothing of anyone', async () => {
  expectRefusal(await post({ eventType: 'Bounce' }), 'invalid_request');
});
