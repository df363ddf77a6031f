import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import {
  first,
  present,
  readReason,
  readRecipient,
  readSendIdIn,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningsOf, toEvent } from './brevo_meaning.ts';

/**
 * Events of contacts, email that came in, and other channels: about no email of this installation.
 */
const ASIDE = [
  'listaddition',
  'contactupdated',
  'contactdeleted',
  'inboundemailprocessed',
  'reply',
];

/** Only `ts_epoch` is the same in every time zone of an account. */
const timeOf = (fields: Fields): string | null =>
  first(readText(fields['ts_epoch']), readText(fields['ts_event']), readText(fields['ts']));

const translate = (fields: Fields, receivedAt: Date): Translated => {
  const name = readText(fields['event'], 64);
  const event = toEvent(name ?? '');
  if (event === '') return { missing: 'event is required, as in "delivered"' };
  if (ASIDE.includes(event)) return 'aside';
  const email = readRecipient(fields['email']);
  const time = timeOf(fields);
  const messageId = readText(fields['message-id']);
  const reason = readReason(fields['reason']);
  return meaningsOf(event, reason).map((says, nth) => ({
    ...says,
    email,
    occurredAt: readTime(time, receivedAt),
    sendId: readSendIdIn(fields['X-Mailin-custom'], fields['x-mailin-custom']),
    messageIds: present(messageId),
    reason,
    isTest: false,
    // Its `id` is the webhook's, not the event's.
    ...identify({
      id: null,
      time,
      message: messageId,
      what: [event, email, readText(fields['link']), nth === 0 ? null : says.kind],
    }),
  }));
};

/** Brevo: one event per post, or batches of 500; not signed. */
export const brevo = {
  name: 'Brevo',
  about: 'not_foreign',
  verification: { kind: 'token' },
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Transactional, Settings, Webhook at Brevo, and add a webhook.',
      'Enter this URL, with the webhook token at its end.',
      'If you create the webhook by the API of Brevo, it can send the token as bearer token, not in the URL.',
    ],
    subscribeTo: [
      'Delivered',
      'Deferred',
      'Hard bounced',
      'Soft bounced',
      'Blocked',
      'Error',
      'Invalid email',
      'Complaint',
      'Unsubscribed',
      'Opened',
      'Clicked',
    ],
    isTokenInUrl: true,
  },
  read: readerOf(translate),
} as const satisfies Dialect;
