import { meaning } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';
import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import { meaningOfFeedbackType } from '../feedback_types.ts';
import {
  first,
  present,
  readObject,
  readReason,
  readRecipient,
  readSendIdIn,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningOfBounce } from './bounce_classes.ts';

const replyOf = (fields: Fields): string | null =>
  readReason(fields['raw_reason'], fields['reason']);

const ofBounce = (fields: Fields): Meaning =>
  meaningOfBounce(readText(fields['bounce_class']), replyOf(fields));

/** SparkPost's events (its "Webhook Event Reference"), with what each means. */
const MEANINGS = new Map<string, (fields: Fields) => Meaning>([
  ['injection', () => meaning('accepted')],
  ['delivery', () => meaning('delivered')],
  ['delay', () => meaning('deferred', 'soft')],
  ['bounce', ofBounce],
  ['out_of_band', ofBounce],
  ['spam_complaint', ({ fbtype }) => meaningOfFeedbackType(readText(fbtype))],
  ['policy_rejection', () => meaning('rejected')],
  ['generation_rejection', () => meaning('rejected')],
  ['generation_failure', () => meaning('failed')],
  ['list_unsubscribe', () => meaning('unsubscribed')],
  ['link_unsubscribe', () => meaning('unsubscribed')],
  ['open', () => meaning('opened')],
  ['initial_open', () => meaning('opened')],
  ['amp_open', () => meaning('opened')],
  ['amp_initial_open', () => meaning('opened')],
  ['click', () => meaning('clicked')],
  ['amp_click', () => meaning('clicked')],
]);

/**
 * Groups of events that are about no email of this installation: email that came in, imports, A/B
 * tests.
 */
const ASIDE = ['relay_event', 'relay_message', 'ab_test_event', 'ingest_event'];

const toNotice = (fields: Fields, type: string, receivedAt: Date) => {
  const says = MEANINGS.get(type)?.(fields) ?? meaning('unknown');
  const email = readRecipient(first(fields['rcpt_to'], fields['raw_rcpt_to']));
  const time = readText(fields['timestamp']);
  const ids = present(
    readText(fields['message_id'], 255),
    readText(fields['transmission_id'], 255),
  );
  return {
    ...says,
    email,
    occurredAt: readTime(time, receivedAt),
    sendId: readSendIdIn(fields['rcpt_meta']),
    messageIds: ids,
    reason: readReason(replyOf(fields), fields['fbtype']),
    isTest: false,
    ...identify({
      id: readText(fields['event_id'], 255),
      time,
      message: first(...ids),
      what: [type, email],
    }),
  };
};

/** An event stands as `msys.<group>`; a test of the URL has no group. */
const translate = (event: Fields, receivedAt: Date): Translated => {
  if (!('msys' in event)) return { missing: 'msys is required: an object with one event' };
  const groups = readObject(event['msys']);
  const [group] = Object.keys(groups);
  if (group === undefined || ASIDE.includes(group)) return 'aside';
  const fields = readObject(groups[group]);
  const type = readText(fields['type'], 64)?.trim().toLowerCase();
  if (!type) return { missing: 'the event in msys has no type' };
  return [toNotice(fields, type, receivedAt)];
};

/** SparkPost: arrays of wrapped events, not signed. */
export const sparkpost = {
  name: 'SparkPost',
  about: 'not_foreign',
  verification: { kind: 'token' },
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Configuration, Webhooks at SparkPost, and create a webhook with this URL as its target.',
      'Select Basic Auth: any user name, and the webhook token as the password.',
      'Select the events below, and save. SparkPost sends a test, which Trunkline answers with 200.',
    ],
    subscribeTo: [
      'Delivery',
      'Delay',
      'Bounce',
      'Out of Band',
      'Spam Complaint',
      'Policy Rejection',
      'Generation Failure',
      'Generation Rejection',
      'List Unsubscribe',
      'Link Unsubscribe',
      'Open',
      'Click',
    ],
    isTokenInUrl: false,
  },
  read: readerOf(translate),
} as const satisfies Dialect;
