import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { SnsMessage } from '../../src/feedback/sns.ts';
import { makeSnsNetwork } from '../../src/feedback/sns_network.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import {
  confirmationOf,
  notificationOf,
  OTHER_TOPIC,
  makeSigner,
  signMessage,
  snsService,
  TOPIC,
} from './sns_service.ts';
import { HARD_REPORT, sesEvent } from './told.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const service = snsService();
beforeAll(() => {
  const { deps } = database;
  database.deps = { ...deps, config: { ...deps.config, snsUrl: service.url } };
});
const api = testApi(database);
const hooks = webhooksOf(database, api);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'fresh');
  service.mood = 'well';
  service.asked.length = 0;
  // No certificate of another test is known.
  await database.deps.resources.close();
});

const TEXT = { contentType: 'text/plain; charset=UTF-8' };
type Unsigned = Omit<SnsMessage, 'Signature'>;
const post = (message: Unsigned, call: Call = TEXT, slug = 'amazon-ses') =>
  hooks.post(slug, signMessage(message, service.signer), call);
const confirm = (given: Partial<Unsigned> = {}) => post(confirmationOf(given));
const bounceOf = (emailAddress: string) =>
  sesEvent('Bounce', {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    feedbackId: randomUUID(),
    bouncedRecipients: [{ emailAddress, ...HARD_REPORT }],
  });
const topic = async () => (await hooks.describe('amazon-ses')).topic;
const changes = async () =>
  (await hooks.describe('amazon-ses')).topic_changes.map(
    ({ arn, change }: { arn: string; change: string }) => [change, arn],
  );

describe('200', () => {
  test('the first topic that asks is confirmed, by us and at the service itself, and its notices count', async () => {
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

    const email = someone();
    const { body } = await post(notificationOf(bounceOf(email)));
    expect(body).toEqual({ received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] });
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  });

  test.each(['text/plain', 'application/json', 'application/octet-stream', null])(
    'said to be %s, under either slug, in either version of the signature',
    async (contentType) => {
      await confirm();
      for (const slug of ['amazon-ses', 'aws-ses'])
        for (const SignatureVersion of ['1', '2']) {
          const email = someone();
          const message = notificationOf(bounceOf(email), { SignatureVersion, Subject: 'SES' });
          expect((await post(message, { contentType }, slug)).body.accepted).toBe(1);
          expect(await hooks.reasonOf(email)).toBe('hard_bounce');
        }
    },
  );

  test('the same message again changes nothing; the same bounce told twice is one', async () => {
    await confirm();
    const event = bounceOf(someone());
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
    for (let at = 0; at < 3; at += 1) expect((await post(message)).status).toBe(200);
    const asked = () => service.asked.filter(({ path }) => path.includes('Confirm')).length;
    expect(asked()).toBe(1);
    expect((await confirm()).body.accepted).toBe(1);
    expect(asked()).toBe(2);
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
    await confirm();
    expect((await topic()).unsubscribed_at).toBeNull();
  });

  test('after a reset another topic may be the one, and a confirmation that somebody kept is not taken', async () => {
    const kept = confirmationOf();
    await post(kept);
    expect((await hooks.manage('POST', '/amazon-ses/reset-topic')).status).toBe(200);
    expect(await topic()).toBeNull();
    expect((await post(kept)).body.duplicates).toBe(1);
    expect(await topic()).toBeNull();
    expect((await confirm({ TopicArn: OTHER_TOPIC })).body.accepted).toBe(1);
    expect(await topic()).toMatchObject({ arn: OTHER_TOPIC });
    expect(await changes()).toEqual([
      ['confirmed', OTHER_TOPIC],
      ['reset', TOPIC],
      ['confirmed', TOPIC],
    ]);
  });
});

describe('refusals', () => {
  test('403 foreign_topic: a signature proves the service, not whose topic it is', async () => {
    const email = someone();
    expectRefusal(await post(notificationOf(bounceOf(email))), 'foreign_topic');
    await confirm();
    const foreign = { TopicArn: OTHER_TOPIC };
    expectRefusal(await post(notificationOf(bounceOf(email), foreign)), 'foreign_topic');
    expectRefusal(await confirm(foreign), 'foreign_topic');
    expectRefusal(await confirm({ ...foreign, Type: 'UnsubscribeConfirmation' }), 'foreign_topic');
    expect(await hooks.reasonOf(email)).toBeNull();
    expect(await topic()).toMatchObject({ arn: TOPIC, unsubscribed_at: null });
    expect(await changes()).toEqual([
      ['refused', OTHER_TOPIC],
      ['confirmed', TOPIC],
    ]);
    expect(service.asked.filter(({ path }) => path.includes('Confirm'))).toHaveLength(1);
  });

  test('403 foreign_topic: of topics that ask at once one is the project’s', async () => {
    const arns = Array.from({ length: 6 }, (_, at) => `${TOPIC}-${at}`);
    const answers = await Promise.all(arns.map((TopicArn) => confirm({ TopicArn })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect((await topic()).arn).toBe(arns[statuses.indexOf(200)]);
  });

  test('403 foreign_topic: so many refusals are kept and no more', async () => {
    await confirm();
    for (let at = 0; at < 105; at += 1) await confirm({ TopicArn: `${OTHER_TOPIC}-${at}` });
    expect(await hooks.countOf('feedback.topic_changes')).toBe(101);
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
      expectRefusal(await confirm({ Timestamp }), 'invalid_signature');
    expect(await hooks.reasonOf(email)).toBeNull();
  });

  test('401 invalid_signature: the service has no such certificate', async () => {
    service.mood = 'refusing';
    expectRefusal(await confirm(), 'invalid_signature');
    expect(await topic()).toBeNull();
  });

  test('401 invalid_token: a token that is sent has to be right', async () => {
    const message = signMessage(confirmationOf(), service.signer);
    expectRefusal(await hooks.post('amazon-ses', message, TEXT, '?token=wrong'), 'invalid_token');
    const right = `?token=${api.project.hook_token}`;
    expect((await hooks.post('amazon-ses', message, TEXT, right)).status).toBe(200);
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

  test('400 invalid_request: the service would not confirm', async () => {
    await confirm({ TopicArn: OTHER_TOPIC });
    await hooks.manage('POST', '/amazon-ses/reset-topic');
    for (const mood of ['refusing', 'redirecting', 'endless', 'confused'] as const) {
      service.mood = mood;
      expectRefusal(await confirm(), 'invalid_request');
      expect(await topic()).toBeNull();
    }
  });

  test('503 unavailable: the service cannot be asked, so nothing is lost: it comes again', async () => {
    service.mood = 'down';
    const message = confirmationOf();
    const answer = await post(message);
    expectRefusal(answer, 'unavailable');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    service.mood = 'well';
    expect((await post(message)).body.accepted).toBe(1);
    service.mood = 'down';
    expectRefusal(await confirm(), 'unavailable');
    service.mood = 'well';
    expect((await confirm()).status).toBe(200);
  });
});

test('nobody is asked through a closed network', async () => {
  const { deps } = database;
  const config = { ...deps.config, egressAllowNetworks: [] };

  const network = makeSnsNetwork({ ...deps, config });
  const got = await network.confirm(new URL('https://sns.eu-west-1.amazonaws.com/?Action=x'));
  expect(got).toEqual({ kind: 'unreachable' });
  expect(service.asked).toEqual([]);
});
