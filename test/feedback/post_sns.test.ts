import { describe, expect, test } from 'vitest';
import { makeSnsNetwork } from '../../src/feedback/sns_network.ts';
import { expectRefusal } from '../support/api.ts';
import { bounceOf, sesWorld, TEXT } from './ses_world.ts';
import {
  confirmationOf,
  makeSigner,
  notificationOf,
  OTHER_TOPIC,
  signMessage,
  TOPIC,
} from './sns_service.ts';
import { someone } from './webhooks_of.ts';

const { database, service, api, hooks, ...world } = sesWorld();
const { post, withToken, ask, confirm, webhook, decide, remove, confirmedAtAmazon, accepted } =
  world;
const topic = async () => (await webhook()).topics[0] ?? null;
const changes = async () =>
  (await webhook()).topic_changes.map(({ arn, change }: { arn: string; change: string }) => [
    change,
    arn,
  ]);

describe('200', () => {
  test('a topic with the webhook token in its URL is confirmed, at Amazon, and its notices count', async () => {
    expect((await confirm()).body).toMatchObject({ received: 1, accepted: 1 });
    expect(service.asked.map(({ host }) => host)).toEqual(
      Array(2).fill('sns.eu-west-1.amazonaws.com'),
    );
    const { searchParams } = new URL(service.asked[1]?.path ?? '', 'http://sns');
    expect(Object.fromEntries(searchParams)).toEqual({
      Action: 'ConfirmSubscription',
      TopicArn: TOPIC,
      Token: '2336412f37fb687f5d51e6e2425e',
    });
    expect(await topic()).toMatchObject({ arn: TOPIC, unsubscribed_at: null });
    expect(await changes()).toEqual([['confirmed', TOPIC]]);
    const log = await database.owner.query(
      'select actor_kind, actor_id, action from admin.audit where project_id = $1',
      [api.project.project_id],
    );
    expect(log.rows).toEqual([
      { actor_kind: 'service', actor_id: null, action: 'amazon-ses: topic confirmed' },
    ]);

    const { email, sendId } = await accepted();
    const { body } = await post(notificationOf(bounceOf(email, { sendId })));
    expect(body).toEqual({ received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] });
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  });

  test.each(['text/plain', 'application/json', 'application/octet-stream', null])(
    'said to be %s, under either slug, in either version of the signature',
    async (contentType) => {
      await confirm();
      for (const slug of ['amazon-ses', 'aws-ses'])
        for (const SignatureVersion of ['1', '2']) {
          const { email, sendId } = await accepted();
          const message = notificationOf(bounceOf(email, { sendId }), {
            SignatureVersion,
            Subject: 'SES',
          });
          expect((await post(message, { contentType }, slug)).body.accepted).toBe(1);
          expect(await hooks.reasonOf(email)).toBe('hard_bounce');
        }
    },
  );

  test('the same message again changes nothing; the same bounce told twice is one', async () => {
    await confirm();
    const { email, sendId } = await accepted();
    const event = bounceOf(email, { sendId });
    const message = notificationOf(event);
    expect((await post(message)).body).toMatchObject({ received: 1, accepted: 1 });
    expect((await post(message)).body).toMatchObject({ received: 1, accepted: 0, duplicates: 1 });
    expect((await post(notificationOf(event))).body).toMatchObject({ accepted: 0, duplicates: 1 });
  });

  test('a certificate is fetched once', async () => {
    await confirm();
    for (let at = 0; at < 5; at += 1) await post(notificationOf(bounceOf(someone())));
    expect(service.asked.filter(({ path }) => path.endsWith('.pem'))).toHaveLength(1);
  });

  test('a confirmation that comes again is given again only when it is another one', async () => {
    const message = confirmationOf();
    for (let at = 0; at < 3; at += 1) expect((await withToken(message)).status).toBe(200);
    expect(confirmedAtAmazon()).toHaveLength(1);
    expect((await confirm()).body.accepted).toBe(1);
    expect(confirmedAtAmazon()).toHaveLength(2);
  });

  test('what they say when it is set up is ignored, and what cannot be read is said so', async () => {
    await confirm();
    const setUp = 'Successfully validated SNS topic for Amazon SES event publishing.';
    expect((await post(notificationOf(setUp))).body).toMatchObject({ received: 1, ignored: 1 });
    for (const text of ['no JSON', '{}', '[]', 'null']) {
      const { body } = await post(notificationOf(text));
      expect([body.received, body.accepted, body.errors.length]).toEqual([1, 0, 1]);
    }
  });

  test('a topic that is unsubscribed is shown so and never subscribed again by us', async () => {
    await confirm();
    const asked = service.asked.length;
    const end = confirmationOf({ Type: 'UnsubscribeConfirmation' });
    expect((await post(end)).body.accepted).toBe(1);
    expect((await post(end)).body.duplicates).toBe(1);
    expect(service.asked).toHaveLength(asked);
    expect((await topic()).unsubscribed_at).toMatch(/^\d{4}-/);
    expect(await changes()).toEqual([
      ['unsubscribed', TOPIC],
      ['confirmed', TOPIC],
    ]);
    expect((await ask()).status).toBe(200);
    expect((await topic()).unsubscribed_at).toBeNull();
  });

  test('a topic that was removed does not come back by a confirmation that somebody kept', async () => {
    const kept = confirmationOf();
    await withToken(kept);
    expect((await remove((await topic()).id)).status).toBe(200);
    expect(await topic()).toBeNull();
    for (const again of [post, withToken]) expect((await again(kept)).body.duplicates).toBe(1);
    expect(await topic()).toBeNull();
    expectRefusal(await post(notificationOf(bounceOf(someone()))), 'foreign_topic');
    expect(await changes()).toEqual([
      ['removed', TOPIC],
      ['confirmed', TOPIC],
    ]);
  });
});

describe('refusals', () => {
  test('403 foreign_topic: a signature proves the service, not whose topic it is', async () => {
    const { email, sendId } = await accepted();
    const event = bounceOf(email, { sendId });
    expectRefusal(await post(notificationOf(event)), 'foreign_topic');
    await confirm();
    const foreign = { TopicArn: OTHER_TOPIC };
    expectRefusal(await post(notificationOf(event, foreign)), 'foreign_topic');
    const end = confirmationOf({ ...foreign, Type: 'UnsubscribeConfirmation' });
    expectRefusal(await post(end), 'foreign_topic');
    expect(await hooks.reasonOf(email)).toBeNull();
    expect(await topic()).toMatchObject({ arn: TOPIC, unsubscribed_at: null });
    expect(confirmedAtAmazon()).toHaveLength(1);
  });

  test('401 invalid_signature: another key, an old confirmation, headers that say otherwise', async () => {
    await confirm();
    const email = someone();
    const other = await makeSigner();
    const message = notificationOf(bounceOf(email));
    expectRefusal(
      await hooks.post('amazon-ses', signMessage(message, other), TEXT),
      'invalid_signature',
    );
    expectRefusal(
      await post(message, { ...TEXT, headers: { 'x-amz-sns-topic-arn': OTHER_TOPIC } }),
      'invalid_signature',
    );
    const SigningCertURL =
      'https://evil.test/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
    expectRefusal(await post({ ...message, SigningCertURL }), 'invalid_signature');
    for (const Timestamp of ['2020-01-01T00:00:00.000Z', 'never'])
      expectRefusal(await ask({ Timestamp }), 'invalid_signature');
    expect(await hooks.reasonOf(email)).toBeNull();
  });

  test('401 invalid_signature: the service has no such certificate', async () => {
    service.mood = 'refusing';
    expectRefusal(await confirm(), 'invalid_signature');
    expect(await topic()).toBeNull();
  });

  test('401 invalid_token: a token that is sent has to be right', async () => {
    const message = confirmationOf();
    expectRefusal(await withToken(message, 'wrong'), 'invalid_token');
    const notification = notificationOf(bounceOf(someone()));
    expectRefusal(await withToken(notification, 'wrong'), 'invalid_token');
    expect((await withToken(message)).status).toBe(200);
    expectRefusal(await withToken(notification, 'wrong'), 'invalid_token');
  });

  test('401 topic_needs_approval: Amazon sends the password of a URL only after a challenge', async () => {
    const message = confirmationOf();
    const challenged = await post(message);
    expectRefusal(challenged, 'topic_needs_approval');
    expect(challenged.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
    const basic = Buffer.from(`amazon:${api.project.hook_token}`).toString('base64');
    const headers = { authorization: `Basic ${basic}` };
    expect((await post(message, { ...TEXT, headers })).body.accepted).toBe(1);
    expect(await topic()).toMatchObject({ arn: TOPIC, confirmed_by: 'token' });
    expect((await webhook()).pending_topics).toEqual([]);
  });

  test('400 invalid_request: raw delivery bears no signature, and it is said what to do', async () => {
    const bare = bounceOf(someone());
    const answers = [
      await hooks.post('amazon-ses', bare, TEXT),
      await hooks.post(
        'amazon-ses',
        {},
        {
          ...TEXT,
          headers: { 'x-amz-sns-rawdelivery': 'true' },
        },
      ),
    ];
    for (const answer of answers) {
      expectRefusal(answer, 'invalid_request');
      expect(answer.body.detail).toMatch(/raw message delivery/i);
    }
  });

  test('400: what is no message of the service', async () => {
    expectRefusal(await hooks.post('amazon-ses', 'no JSON', TEXT), 'invalid_json');
    for (const body of [[], null, {}, { Type: 'Notification' }, { Type: 'constructor' }])
      expectRefusal(await hooks.post('amazon-ses', JSON.stringify(body), TEXT), 'invalid_request');
  });

  test('409 topic_not_confirmed: the service would not confirm', async () => {
    const waiting = { TopicArn: OTHER_TOPIC };
    await ask(waiting);
    const [pending] = (await webhook()).pending_topics;
    for (const mood of ['refusing', 'redirecting', 'endless', 'confused'] as const) {
      service.mood = mood;
      expectRefusal(await confirm(), 'topic_not_confirmed');
      expectRefusal(await decide(pending.id, 'approve'), 'topic_not_confirmed');
      expect(await topic()).toBeNull();
    }
  });

  test('503 unavailable: the service cannot be asked, so nothing is lost: it comes again', async () => {
    service.mood = 'down';
    const message = confirmationOf();
    const answer = await withToken(message);
    expectRefusal(answer, 'unavailable');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    service.mood = 'well';
    expect((await withToken(message)).body.accepted).toBe(1);
    service.mood = 'down';
    expectRefusal(await confirm(), 'unavailable');
    service.mood = 'well';
    expect((await confirm()).status).toBe(200);
  });
});

test.each(['s3-us-west-2', 's3', 'cn-north-1'])(
  '401 invalid_signature, attack: a topic of the region %j makes the service fetch nothing',
  async (region) => {
    const topicArn = `arn:aws:sns:${region}:666666666666:evil`;
    const asked = service.asked.length;
    expectRefusal(await post(confirmationOf({ TopicArn: topicArn })), 'invalid_signature');
    expect(service.asked).toHaveLength(asked);
  },
);

test('nobody is asked through a closed network', async () => {
  const { deps } = database;
  const config = { ...deps.config, egressAllowNetworks: [] };

  const network = makeSnsNetwork({ ...deps, config });
  const got = await network.confirm(new URL('https://sns.eu-west-1.amazonaws.com/?Action=x'));
  expect(got).toEqual({ kind: 'unreachable' });
  expect(service.asked).toEqual([]);
});
