import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import {
  present,
  readReason,
  readRecipient,
  readSendIdIn,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningsOf } from './sendgrid_meaning.ts';
import { sendgridSignature } from './sendgrid_signature.ts';

/** Events of the account: about no email. */
const OF_ACCOUNT = /^account_/;

/**
 * SendGrid's id of the email, as its API and its SMTP server answer it, with what it adds; and the
 * Message-ID.
 */
const messageIdsOf = (fields: Fields): string[] => {
  const id = readText(fields['sg_message_id'], 255);
  return present(id?.split('.')[0] ?? null, id, readText(fields['smtp-id']));
};

const translate = (fields: Fields, receivedAt: Date): Translated => {
  const event = readText(fields['event'], 64)?.trim().toLowerCase();
  if (!event) return { missing: 'event is required, as in "delivered"' };
  if (OF_ACCOUNT.test(event)) return 'aside';
  const email = readRecipient(fields['email']);
  const time = readText(fields['timestamp']);
  return meaningsOf(event, fields).map((says, nth) => ({
    ...says,
    email,
    occurredAt: readTime(time, receivedAt),
    // Unique arguments stand beside the members of the event.
    sendId: readSendIdIn(fields),
    messageIds: messageIdsOf(fields),
    reason: readReason(fields['reason'], fields['response'], fields['bounce_classification']),
    isTest: false,
    ...identify({
      id: readText(fields['sg_event_id'], 255),
      time,
      message: readText(fields['sg_message_id'], 255),
      what: [event, email, nth === 0 ? null : says.kind],
    }),
  }));
};

/** SendGrid: arrays of events, signed on request. */
export const sendgrid = {
  name: 'SendGrid',
  about: 'not_foreign',
  verification: sendgridSignature,
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Settings, Mail Settings, Event Webhooks at SendGrid, and create a webhook.',
      'Enter this URL as the Post URL.',
      'Turn Signed Event Webhook on, save, and copy the verification key.',
      'Set the verification key here. Without a key, Trunkline takes only posts with the webhook token in the URL.',
    ],
    subscribeTo: [
      'Delivered',
      'Deferred',
      'Bounced',
      'Dropped',
      'Spam Reports',
      'Unsubscribes',
      'Group Unsubscribes',
      'Group Resubscribes',
      'Opened',
      'Clicked',
    ],
    isTokenInUrl: false,
  },
  read: readerOf(translate),
} as const satisfies Dialect;
