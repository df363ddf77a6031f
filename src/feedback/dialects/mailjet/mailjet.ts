import { parseJson } from '../../../base/json.ts';
import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import {
  present,
  readReason,
  readRecipient,
  readSendId,
  readSendIdIn,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningOf } from './mailjet_errors.ts';

/** Ids of Mailjet are numbers past 2^53: a JavaScript number would be another email's. */
const LARGE_ID = /"(MessageID|mj_message_id)"(\s{0,10}:\s{0,10})(\d{16,20})(?=\s{0,10}[,}])/g;

const parse = (raw: Buffer): unknown => {
  const body = parseJson(raw);
  const text = raw.toString('utf8');
  const exact = text.replaceAll(LARGE_ID, '"$1"$2"$3"');
  return exact === text ? body : parseJson(Buffer.from(exact));
};

const translate = (fields: Fields, receivedAt: Date): Translated => {
  const event = readText(fields['event'], 64)?.trim().toLowerCase();
  if (!event) return { missing: 'event is required, as in "sent"' };
  const says = meaningOf(event, fields);
  const email = readRecipient(fields['email']);
  const time = readText(fields['time']);
  const messageId = readText(fields['MessageID'], 64);
  return [
    {
      ...says,
      email,
      occurredAt: readTime(time, receivedAt),
      sendId: readSendId(fields['CustomID']) ?? readSendIdIn(fields['Payload']),
      messageIds: present(
        messageId,
        readText(fields['mj_message_id'], 64),
        readText(fields['Message_GUID'], 64),
      ),
      reason: readReason(
        fields['comment'],
        fields['smtp_reply'],
        fields['error'],
        fields['error_related_to'],
      ),
      isTest: false,
      ...identify({
        id: null,
        time,
        message: messageId,
        what: [event, email, readText(fields['url'])],
      }),
    },
  ];
};

/** Mailjet: one event per post, or the events of a second as an array; not signed. */
export const mailjet = {
  name: 'Mailjet',
  about: 'not_foreign',
  verification: { kind: 'token' },
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Account, Event notifications (webhooks) at Mailjet.',
      'Enter this URL, with the webhook token at its end, for each of the events below.',
      'Select "Group events" for each URL.',
    ],
    subscribeTo: ['sent', 'bounce', 'blocked', 'spam', 'unsub', 'open', 'click'],
    isTokenInUrl: true,
  },
  read: readerOf(translate, parse),
} as const satisfies Dialect;
