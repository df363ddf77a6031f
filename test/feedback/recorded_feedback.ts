// What providers post about one send, for the tests of its order.
import { newId } from '../../src/base/ids.ts';
import type { Source } from '../../src/feedback/dialects/dialects.ts';
import { mailgunEvent, sesEvent, smtp2goBody } from './told.ts';
import {
  brevoEvent,
  mailjetEvent,
  postmarkBounce,
  postmarkEvent,
  resendEvent,
  sendgridEvent,
  sparkpostEvent,
} from './vendor_payloads.ts';

const time = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString();

/**
 * What vendors post about the sends to an address, soft bounces and deliveries by turns among it.
 */
export const bodiesAbout = (email: string, sendId: string): [Source, object][] => [
  ...[1, 2, 4, 6, 7].map((minute): [Source, object] => [
    'smtp2go',
    smtp2goBody({
      event: 'bounce',
      bounce: 'soft',
      rcpt: email,
      time: time(minute),
      message: '452 4.2.2 full',
    }),
  ]),
  ['smtp2go', smtp2goBody({ rcpt: email.toUpperCase(), time: time(5), email_id: `${sendId}-x` })],
  ['smtp2go', smtp2goBody({ event: 'unsubscribe', rcpt: email, time: time(9) })],
  ['mailgun', mailgunOf(email, sendId, { event: 'delivered' }, 3)],
  ['mailgun', mailgunOf(email, sendId, { event: 'failed', severity: 'temporary' }, 2)],
  [
    'mailgun',
    mailgunOf(
      email,
      sendId,
      { event: 'failed', severity: 'permanent', reason: 'suppress-bounce' },
      12,
    ),
  ],
  [
    'mailgun',
    mailgunOf(email, sendId, { event: 'failed', severity: 'permanent', reason: 'bounce' }, 11),
  ],
  [
    'mailgun',
    mailgunOf(email, sendId, { event: 'complained', flags: { 'is-test-mode': true } }, 1),
  ],
  ['amazon-ses', sesOf('Complaint', email, sendId, 14)],
  ['amazon-ses', sesOf('Send', email, sendId, 0)],
  ['amazon-ses', sesOf('Open', email, sendId, 8)],
  // About a message of another project: it never has an effect.
  ['amazon-ses', sesOf('Complaint', email, newId(), 3)],
  [
    'smtp',
    {
      event: 'bounce',
      bounce_type: 'hard',
      recipient: email,
      send_id: sendId,
      occurred_at: time(13),
    },
  ],
  ['smtp', { event: 'complaint', recipient: email, occurred_at: time(15) }],
  ['smtp', { event: 'something new', recipient: email, occurred_at: time(16) }],
  ...vendorBodiesAbout(email, sendId),
];

function mailgunOf(recipient: string, send_id: string, given: object, minute: number) {
  const timestamp = Date.parse(time(minute)) / 1_000;
  const event = mailgunEvent({
    recipient,
    timestamp,
    'user-variables': { send_id },
    'delivery-status': null,
    ...given,
  });
  return { 'event-data': event };
}

function sesOf(type: string, emailAddress: string, sendId: string, minute: number) {
  const detail = { timestamp: time(minute), feedbackId: `${emailAddress}-${minute}` };
  return sesEvent(
    type,
    { ...detail, complainedRecipients: [{ emailAddress }] },
    { destination: [emailAddress], tags: { send_id: [sendId] } },
  );
}

/**
 * The same of vendors whose events name the send by its metadata: bounces of each kind, and what
 * repeats them.
 */
function vendorBodiesAbout(email: string, send_id: string): [Source, object][] {
  const seconds = (minute: number) => Date.parse(time(minute)) / 1_000;
  const Metadata = { send_id };
  const suppression = {
    SuppressSending: true,
    SuppressionReason: 'HardBounce',
    Origin: 'Recipient',
  };
  return [
    ['postmark', postmarkBounce('HardBounce', { Email: email, BouncedAt: time(14), Metadata })],
    [
      'postmark',
      postmarkEvent('SubscriptionChange', {
        ...suppression,
        Recipient: email,
        ChangedAt: time(14),
        Metadata,
      }),
    ],
    [
      'postmark',
      postmarkBounce('AutoResponder', { ID: 2, Email: email, BouncedAt: time(3), Metadata }),
    ],
    [
      'sendgrid',
      sendgridEvent('bounce', { email, timestamp: seconds(8), type: 'blocked', send_id }),
    ],
    ['sendgrid', sendgridEvent('deferred', { email, timestamp: seconds(1), send_id })],
    [
      'resend',
      resendEvent('email.bounced', {
        to: [email],
        tags: { send_id },
        bounce: { type: 'Transient', subType: 'MailboxFull' },
      }),
    ],
    ['brevo', brevoEvent('delivered', { email, ts_epoch: seconds(10) * 1_000 })],
    ['mailjet', mailjetEvent('unsub', { email, time: seconds(11), CustomID: send_id })],
    [
      'sparkpost',
      sparkpostEvent('open', {
        rcpt_to: email,
        timestamp: String(seconds(12)),
        rcpt_meta: { send_id },
      }),
    ],
  ];
}
