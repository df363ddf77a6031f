import { createHmac, randomBytes } from 'node:crypto';
import type { Dialect, ReadNotice } from '../../src/feedback/dialects/dialect.ts';
import type { Meaning, Notice } from '../../src/feedback/notice.ts';

export const NOW = new Date('2026-11-20T23:00:00.000Z');

/** What a dialect makes of a body; JSON unless it is a text. */
export const readAs = (dialect: Dialect, body: unknown, contentType = 'application/json') =>
  dialect.read({
    raw: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    contentType,
    receivedAt: NOW,
  });

export const hasEmail = (notice: ReadNotice): notice is Notice => notice.email !== null;

/** The one notice of a body. */
export const noticeAs = async (
  dialect: Dialect,
  body: unknown,
  contentType?: string,
): Promise<Notice> => {
  const { notices, errors } = await readAs(dialect, body, contentType);
  const [notice] = notices;
  if (notices.length !== 1 || !notice || !hasEmail(notice))
    throw new Error(`${notices.length} notices: ${JSON.stringify(errors)}`);
  return notice;
};

/** A notice in a few words: kind, how hard, why the address is suppressed. */
export const inShort = ({ kind, bounceType, suppresses }: Meaning): string =>
  [kind, bounceType, suppresses && `suppresses as ${suppresses}`].filter(Boolean).join(', ');

export const SEND_ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

export const smtp2goBody = (given: object = {}) => ({
  event: 'delivered',
  time: '2026-11-20T10:15:02Z',
  sendtime: '2026-11-20T10:14:58.120331+00:00',
  email_id: '1x2y3z-FnQW0aaaaaa-AB12',
  id: randomBytes(16).toString('hex'),
  rcpt: 'ann@example.net',
  sender: 'hello@mail.shop.test',
  host: 'mx.example.net [192.0.2.25]',
  message: '250 2.0.0 Ok: queued',
  subject: 'Welcome',
  ...given,
});

/** Of a message that the account sent without us: none of ours, so that no send is named. */
export const MAILGUN_MESSAGE_ID = '20261120101502.1.A1B2C3@mail.shop.test';

export const mailgunEvent = (given: object = {}) => ({
  event: 'delivered',
  id: randomBytes(9).toString('base64url'),
  timestamp: 1_795_170_905.02,
  recipient: 'ann@example.net',
  'delivery-status': { code: 250, message: 'OK', description: '', 'mx-host': 'mx.example.net' },
  message: { headers: { 'message-id': MAILGUN_MESSAGE_ID, to: 'ann@example.net' } },
  flags: { 'is-test-mode': false },
  tags: [],
  'user-variables': {},
  ...given,
});

export type Signature = { timestamp: string; token: string; signature: string };

export const signAs = (
  key: string,
  { at = new Date(), token = randomBytes(25).toString('hex') }: { at?: Date; token?: string } = {},
): Signature => {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signature = createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex');
  return { timestamp, token, signature };
};

const SES_MESSAGE_ID = '0102018f00000000-11111111-2222-3333-4444-555555555555-000000';

export const sesMail = (given: object = {}) => ({
  timestamp: '2026-11-20T10:15:00.000Z',
  source: 'Shop <hello@mail.shop.test>',
  sourceArn: 'arn:aws:ses:eu-west-1:123456789012:identity/mail.shop.test',
  messageId: SES_MESSAGE_ID,
  destination: ['ann@example.net'],
  ...given,
});

/** An event of theirs, in the format of event publishing. */
export const sesEvent = (type: string, detail: object, mail: object = {}) => {
  const keys: Record<string, string> = {
    'Rendering Failure': 'failure',
    DeliveryDelay: 'deliveryDelay',
  };
  const timestamp = '2026-11-20T10:15:03.000Z';
  return {
    eventType: type,
    [keys[type] ?? type.toLowerCase()]: { timestamp, feedbackId: '0102-f-1', ...detail },
    mail: sesMail(mail),
  };
};

export const sesBounce = (bounceType: string, bounceSubType: string, recipient: object = {}) =>
  sesEvent('Bounce', {
    bounceType,
    bounceSubType,
    bouncedRecipients: [{ emailAddress: 'ann@example.net', ...recipient }],
  });

export const sesComplaint = (given: object = {}) =>
  sesEvent('Complaint', {
    complainedRecipients: [{ emailAddress: 'ann@example.net' }],
    complaintFeedbackType: 'abuse',
    complaintSubType: null,
    ...given,
  });

export const HARD_REPORT = {
  action: 'failed',
  status: '5.1.1',
  diagnosticCode: 'smtp; 550 5.1.1 user unknown',
};
export const FULL_REPORT = {
  action: 'failed',
  status: '4.2.2',
  diagnosticCode: 'smtp; 452 4.2.2 mailbox full',
};
