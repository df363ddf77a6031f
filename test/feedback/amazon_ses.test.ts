import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/feedback/dialects/dialects.ts';
import {
  FULL_REPORT,
  HARD_REPORT,
  inShort,
  noticeAs,
  readAs,
  SEND_ID,
  sesBounce,
  sesComplaint,
  sesEvent,
} from './told.ts';

const ses = dialects['amazon-ses'];
const read = (event: object) => noticeAs(ses, event);
const recipients = [{ emailAddress: 'ann@example.net' }];
const HARD = 'bounced, hard, suppresses as hard_bounce';
const LISTED = 'bounced, hard, suppresses as provider_suppressed';
const COMPLAINT = 'complained, suppresses as complaint';

describe('what happened', () => {
  test.each([
    ['Bounce Permanent General', sesBounce('Permanent', 'General', HARD_REPORT), HARD],
    ['Bounce Permanent NoEmail', sesBounce('Permanent', 'NoEmail', HARD_REPORT), HARD],
    ['Bounce Permanent Suppressed', sesBounce('Permanent', 'Suppressed'), LISTED],
    [
      'Bounce Permanent OnAccountSuppressionList',
      sesBounce('Permanent', 'OnAccountSuppressionList'),
      LISTED,
    ],
    [
      'Bounce Permanent OnTenantSuppressionList',
      sesBounce('Permanent', 'OnTenantSuppressionList'),
      LISTED,
    ],
    [
      'Bounce Permanent EmailValidationSuppressed',
      sesBounce('Permanent', 'EmailValidationSuppressed'),
      LISTED,
    ],
    [
      'Bounce Permanent UnsubscribedRecipient',
      sesBounce('Permanent', 'UnsubscribedRecipient'),
      'unsubscribed',
    ],
    ['Bounce Permanent of a kind that nobody knows', sesBounce('Permanent', 'New'), HARD],
    [
      'Bounce Transient MailboxFull',
      sesBounce('Transient', 'MailboxFull', FULL_REPORT),
      'bounced, soft',
    ],
    [
      'Bounce Transient General with a report',
      sesBounce('Transient', 'General', FULL_REPORT),
      'bounced, soft',
    ],
    [
      'Bounce Transient General of an out-of-office reply',
      sesBounce('Transient', 'General'),
      'auto_reply',
    ],
    [
      'Bounce Transient ContentRejected',
      sesBounce('Transient', 'ContentRejected'),
      'bounced, block',
    ],
    [
      'Bounce Permanent General of a policy',
      sesBounce('Permanent', 'General', {
        status: '5.7.1',
        diagnosticCode: 'smtp; 550 5.7.1 Message rejected due to local policy',
      }),
      'bounced, block',
    ],
    [
      'Bounce Permanent General of a full mailbox',
      sesBounce('Permanent', 'General', {
        status: '5.2.2',
        diagnosticCode: 'smtp; 552 5.2.2 mailbox full',
      }),
      'bounced, soft',
    ],
    ['Bounce Undetermined', sesBounce('Undetermined', 'Undetermined'), 'bounced, undetermined'],
    ['Bounce of a type that nobody knows', sesBounce('New', 'New'), 'bounced, undetermined'],
    ['Complaint', sesComplaint(), COMPLAINT],
    [
      'Complaint of a kind that nobody knows',
      sesComplaint({ complaintFeedbackType: 'new' }),
      COMPLAINT,
    ],
    [
      'Complaint that is taken back as not-spam',
      sesComplaint({ complaintFeedbackType: 'not-spam' }),
      'not_spam',
    ],
    [
      'Complaint that is a report of failed authentication',
      sesComplaint({ complaintFeedbackType: 'auth-failure' }),
      'unknown',
    ],
    [
      'Complaint that is an opt-out',
      sesComplaint({ complaintFeedbackType: 'opt-out' }),
      'unsubscribed',
    ],
    [
      'Complaint that is an opt-out of a list, in capitals',
      sesComplaint({ complaintFeedbackType: 'Opt-Out-List' }),
      'unsubscribed',
    ],
    [
      'Complaint with OnAccountSuppressionList',
      sesComplaint({ complaintSubType: 'OnAccountSuppressionList' }),
      'complained, suppresses as provider_suppressed',
    ],
    [
      'Complaint with OnTenantSuppressionList',
      sesComplaint({ complaintSubType: 'OnTenantSuppressionList' }),
      'complained, suppresses as provider_suppressed',
    ],
    ['Reject', sesEvent('Reject', { reason: 'Bad content' }), 'failed'],
    [
      'Rendering Failure',
      sesEvent('Rendering Failure', { errorMessage: 'no first_name' }),
      'failed',
    ],
    ['Delivery', sesEvent('Delivery', { recipients: ['ann@example.net'] }), 'delivered'],
    ['Send', sesEvent('Send', {}), 'accepted'],
    ['Open', sesEvent('Open', { ipAddress: '203.0.113.9' }), 'opened'],
    ['Click', sesEvent('Click', { link: 'https://shop.test' }), 'clicked'],
    [
      'DeliveryDelay',
      sesEvent('DeliveryDelay', { delayedRecipients: recipients }),
      'deferred, soft',
    ],
    [
      'Subscription',
      sesEvent('Subscription', { newTopicPreferences: { unsubscribeAll: true } }),
      'unsubscribed',
    ],
    ['Subscription that opts in', sesEvent('Subscription', { newTopicPreferences: {} }), 'unknown'],
    ['an event that nobody knows', sesEvent('Something New', {}), 'unknown'],
    ['constructor', sesEvent('constructor', {}), 'unknown'],
  ])('%s is told as it is', async (_name, event, expected) => {
    expect(inShort(await read(event))).toBe(expected);
  });

  test('an identity notification says the same as an event, and is the same notice', async () => {
    const { eventType, ...rest } = sesBounce('Permanent', 'General', HARD_REPORT);
    expect(await read({ ...rest, notificationType: eventType })).toEqual(
      await read({ eventType, ...rest }),
    );
  });
});

test('an event of EventBridge says the same as a notification, and is the same notice', async () => {
  const detail = sesBounce('Permanent', 'General', HARD_REPORT);
  const wrapped = { source: 'aws.ses', 'detail-type': 'Email Bounced', detail };
  expect(await noticeAs(ses, wrapped)).toEqual(await read(detail));
  // Another service's event with the same detail is none of Amazon SES.
  expect((await readAs(ses, { ...wrapped, source: 'aws.ec2' })).notices).toEqual([]);
});

test('each recipient has a notice; who is listed twice has one', async () => {
  const bouncedRecipients = [
    'ann@example.net',
    'Bob <bob@example.net>',
    'ann@example.net',
    'none',
  ].map((emailAddress) => ({ emailAddress }));
  const event = sesEvent('Bounce', {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    bouncedRecipients,
  });
  const { notices } = await readAs(ses, event);
  expect(notices.map(({ email }) => email)).toEqual(['ann@example.net', 'bob@example.net']);
  expect(new Set(notices.map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
});

test('the message is known by their id, by what they answer over SMTP, and by our tag or header', async () => {
  const id = '0102018f00000000-11111111-2222-3333-4444-555555555555-000000';
  expect((await read(sesEvent('Send', {}))).messageIds).toEqual([
    id,
    `${id}@email.amazonses.com`,
    `${id}@eu-west-1.amazonses.com`,
  ]);
  const tagged = sesEvent('Send', {}, { tags: { send_id: [SEND_ID] } });
  expect((await read(tagged)).sendId).toBe(SEND_ID);
  const headers = [{ name: 'X-Trunkline-Send-Id', value: SEND_ID }];
  expect((await read(sesEvent('Send', {}, { headers }))).sendId).toBe(SEND_ID);
  for (const messageId of ['a b', "x'--", 1, null, 'a'.repeat(201), { a: 1 }])
    expect(
      (await read(sesEvent('Send', {}, { messageId, sourceArn: null }))).messageIds,
    ).toHaveLength(messageId === 1 ? 2 : 0);
});

test('it happened when the detail says, else when the mail was sent, in either way they write it', async () => {
  const timeOf = async (event: object) => (await read(event)).occurredAt.toISOString();
  expect(await timeOf(sesEvent('Send', {}))).toBe('2026-11-20T10:15:03.000Z');
  expect(await timeOf(sesEvent('Send', { timestamp: undefined }))).toBe('2026-11-20T10:15:00.000Z');
  expect(await timeOf(sesEvent('Send', { timestamp: '2026-10-08T14:05:45 +0000' }))).toBe(
    '2026-10-08T14:05:45.000Z',
  );
});

test.each([
  'Successfully validated SNS topic for Amazon SES event publishing.',
  JSON.stringify({ notificationType: 'AmazonSnsSubscriptionSucceeded', message: 'You have …' }),
  JSON.stringify({ notificationType: 'Received', mail: {} }),
])('what they say when it is set up is about no message: %s', async (text) => {
  expect(await readAs(ses, text)).toEqual({ notices: [], errors: [], asideCount: 1 });
});

test.each(['', '[]', 'null', '{', '{"eventType":"Bounce"}', '{"mail":{}}'])(
  'what says nothing of anybody is named as not understood: %s',
  async (text) => {
    const { notices, errors } = await readAs(ses, text);
    expect([notices.length, errors.length]).toEqual([0, 1]);
  },
);
