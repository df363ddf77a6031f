import { meaning } from '../../notice.ts';
import type { RepeatableMeaning } from '../../notice.ts';
import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import {
  first,
  joinReasons,
  readReason,
  readRecipient,
  readSendIdIn,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningOfBounce } from './bounce_types.ts';

/** Postmark has it where no email led to a change. */
const NO_MESSAGE = '00000000-0000-0000-0000-000000000000';

/**
 * Returns what a change of Postmark's suppression list means. A bounce and a complaint come as
 * events of their own, too. Only the recipient takes an unsubscribe back: the account does not
 * speak for them.
 */
const meaningOfChange = (fields: Fields): RepeatableMeaning => {
  if (fields['SuppressSending'] !== true)
    return meaning(fields['Origin'] === 'Recipient' ? 'resubscribed' : 'unknown');
  switch (fields['SuppressionReason']) {
    case 'HardBounce':
      return { ...meaning('bounced', 'hard'), isRepeat: true };
    case 'SpamComplaint':
      return { ...meaning('complained'), isRepeat: true };
    case 'ManualSuppression':
      return meaning('unsubscribed');
    default:
      return meaning('unknown');
  }
};

/** Postmark's records, each with the name of its time. */
const RECORDS = new Map<string, { time: string; meaningOf: (fields: Fields) => RepeatableMeaning }>(
  [
    [
      'Bounce',
      {
        time: 'BouncedAt',
        meaningOf: ({ Type, Details, Description }) =>
          meaningOfBounce(
            readText(Type) ?? '',
            Type === 'SMTPApiError' ? joinReasons(Details, Description) : readReason(Details),
          ),
      },
    ],
    ['SpamComplaint', { time: 'BouncedAt', meaningOf: () => meaning('complained') }],
    ['Delivery', { time: 'DeliveredAt', meaningOf: () => meaning('delivered') }],
    ['Open', { time: 'ReceivedAt', meaningOf: () => meaning('opened') }],
    ['Click', { time: 'ReceivedAt', meaningOf: () => meaning('clicked') }],
    ['SubscriptionChange', { time: 'ChangedAt', meaningOf: meaningOfChange }],
  ],
);

const messageIdOf = (fields: Fields): string | null => {
  const id = readText(fields['MessageID'], 100);
  return id === NO_MESSAGE ? null : id;
};

const translate = (fields: Fields, receivedAt: Date): Translated => {
  const record = readText(fields['RecordType']);
  if (record === null) return { missing: 'RecordType is required, as in "Bounce"' };
  if (record === 'Inbound') return 'aside';
  const known = RECORDS.get(record);
  const says = known?.meaningOf(fields) ?? meaning('unknown');
  const email = readRecipient(first(fields['Email'], fields['Recipient']));
  const time = known ? readText(fields[known.time]) : null;
  const messageId = messageIdOf(fields);
  return [
    {
      ...says,
      email,
      occurredAt: readTime(time, receivedAt),
      sendId: readSendIdIn(fields['Metadata']),
      // Its Message-ID is made of its id, unless the email kept ours.
      messageIds: messageId === null ? [] : [messageId, `${messageId}@mtasv.net`],
      reason: readReason(
        fields['Details'],
        fields['Description'],
        fields['SuppressionReason'],
        fields['Name'],
      ),
      isTest: false,
      ...identify({
        id: readText(fields['ID']),
        time,
        message: messageId,
        what: [record, says.kind, readText(fields['Type']), email],
      }),
    },
  ];
};

/** Postmark: one event per post, not signed. It sends headers of the project's choice. */
export const postmark = {
  name: 'Postmark',
  about: 'not_foreign',
  verification: { kind: 'token' },
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open your server at Postmark, then the message stream that you send through, then Webhooks.',
      'Add a webhook with this URL.',
      'Add the custom header X-Webhook-Token with the webhook token as its value.',
      'Repeat this for each message stream that you send through.',
    ],
    subscribeTo: [
      'Delivery',
      'Bounce',
      'Spam complaint',
      'Subscription change',
      'Open',
      'Link click',
    ],
    isTokenInUrl: false,
  },
  read: readerOf(translate),
} as const satisfies Dialect;
