import { readerOf } from '../batch.ts';
import type { Translated } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { identify } from '../event_key.ts';
import {
  first,
  present,
  readList,
  readObject,
  readReason,
  readRecipient,
  readSendIdIn,
  readSendIdOfHeaders,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { diagnosticOf, meaningOf } from './resend_meaning.ts';
import { svixSignature } from './svix_signature.ts';

/**
 * Events about domains, imports of contacts, and email that came in: about no email of this
 * installation.
 */
const ASIDE = /^(?:domain\.|contact\.(?:created|deleted)$|email\.received$)/;

/** Tags as an object, or as a list of names and values. */
const tagsOf = (tags: unknown): unknown =>
  Array.isArray(tags)
    ? Object.fromEntries(
        tags
          .slice(0, 50)
          .map(readObject)
          .map(({ name, value }) => [readText(name) ?? '', value]),
      )
    : tags;

const reasonOf = (data: Fields): string | null => {
  const bounce = readObject(data['bounce']);
  return readReason(
    diagnosticOf(bounce),
    bounce['message'],
    readObject(data['failed'])['reason'],
    readObject(data['suppressed'])['message'],
    data['origin'],
  );
};

/**
 * Returns the recipient, and whether it is the only one. Resend does not say which of several an
 * event is about. Trunkline sends one email per recipient, so an email with several is none of
 * ours.
 */
const recipientOf = (data: Fields) => {
  const [to, ...others] = readList(data['to']);
  const email = readRecipient(first(to, data['to'], data['email']));
  return { email, isOnly: others.length === 0 };
};

const translate = (event: Fields, receivedAt: Date): Translated => {
  const type = readText(event['type'], 64)?.trim();
  if (!type) return { missing: 'type is required, as in "email.bounced"' };
  if (ASIDE.test(type)) return 'aside';
  const data = readObject(event['data']);
  const { email, isOnly } = recipientOf(data);
  const says = meaningOf(type, data);
  const time = readText(event['created_at']);
  const messageId = readText(data['email_id'], 255);
  const click = readObject(data['click']);
  return [
    {
      ...says,
      suppresses: isOnly ? says.suppresses : null,
      email,
      occurredAt: readTime(time, receivedAt),
      sendId: readSendIdIn(tagsOf(data['tags'])) ?? readSendIdOfHeaders(data['headers']),
      messageIds: present(messageId, readText(data['message_id'])),
      reason: reasonOf(data),
      isTest: false,
      ...identify({
        id: null,
        time,
        message: messageId,
        what: [type, email, readText(click['timestamp'])],
      }),
    },
  ];
};

/** Resend: one event per post, signed by Svix. */
export const resend = {
  name: 'Resend',
  about: 'not_foreign',
  verification: svixSignature,
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Webhooks at Resend, and add a webhook with this URL.',
      'Open the webhook, and copy its signing secret, which begins with "whsec_".',
      'Set the signing secret here. Without it, Trunkline takes only posts with the webhook token in the URL.',
    ],
    subscribeTo: [
      'email.delivered',
      'email.delivery_delayed',
      'email.bounced',
      'email.complained',
      'email.failed',
      'email.suppressed',
      'email.opened',
      'email.clicked',
    ],
    isTokenInUrl: false,
  },
  read: readerOf(translate),
} as const satisfies Dialect;
