import { judgeBounce } from '../../diagnostic.ts';
import { meaning } from '../../notice.ts';
import type { Meaning, Notice } from '../../notice.ts';
import type { Dialect, Posted, ReadResult } from '../dialect.ts';
import { hashOf } from '../event_key.ts';
import { JSON_OR_FORM, readFields } from '../form_body.ts';
import {
  first,
  joinReasons,
  present,
  readObject,
  readReason,
  readRecipient,
  readSendId,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';

const EVENT_CHARS_MAX = 64;
const ID_CHARS_MAX = 256;
const RECIPIENTS_MAX = 100;

/** Their names of events, as documented and as they were seen to come. */
const MEANINGS = new Map<string, Meaning>([
  ['processed', meaning('accepted')],
  ['delivered', meaning('delivered')],
  ['open', meaning('opened')],
  ['opened', meaning('opened')],
  ['click', meaning('clicked')],
  ['clicked', meaning('clicked')],
  ['spam', meaning('complained')],
  ['spam_complaint', meaning('complained')],
  ['unsubscribe', meaning('unsubscribed')],
  ['unsubscribed', meaning('unsubscribed')],
  ['resubscribe', meaning('resubscribed')],
  ['resubscribed', meaning('resubscribed')],
  // Their list, our sender or a trial key: it says nothing sure of the mailbox.
  ['reject', meaning('rejected')],
  ['rejected', meaning('rejected')],
]);

/** Hard or soft as SMTP2GO says, unless the reply that it quotes names another cause. */
const bounceTypeOfFields = (fields: Fields): Notice['bounceType'] => {
  const said = readText(fields['bounce'], EVENT_CHARS_MAX)?.toLowerCase();
  const text = joinReasons(fields['message'], fields['context']);
  return judgeBounce(said === 'hard' || said === 'soft' ? said : null, text);
};

const meaningOf = (event: string, fields: Fields): Meaning =>
  event === 'bounce' || event === 'bounced'
    ? meaning('bounced', bounceTypeOfFields(fields))
    : (MEANINGS.get(event) ?? meaning('unknown'));

/** One recipient, or the list that only `processed` has: an array, or a text that lists them. */
const recipientsOf = (fields: Fields): unknown[] => {
  if (fields['rcpt'] !== undefined) return [fields['rcpt']];
  const { recipients } = fields;
  const listed = typeof recipients === 'string' ? recipients.split(/[,;]/) : recipients;
  return Array.isArray(listed) ? listed.slice(0, RECIPIENTS_MAX) : [];
};

/** Their id of the message, and the Message-ID of the header under either spelling. */
const messageIdsOf = (fields: Fields): string[] =>
  present(
    readText(fields['email_id'], ID_CHARS_MAX),
    readText(fields['message-id'] ?? fields['Message-Id'] ?? fields['Message-ID']),
  );

/** Headers come back only when the webhook lists them, under whatever spelling they have there. */
const sendIdOf = (fields: Fields): string | null => {
  const named = Object.keys(fields).filter((name) => name.toLowerCase() === 'x-trunkline-send-id');
  return readSendId(...named.map((name) => fields[name]));
};

const toNotices = (fields: Fields, receivedAt: Date): Notice[] => {
  const event = readText(fields['event'], EVENT_CHARS_MAX)?.trim().toLowerCase();
  if (!event) return [];
  const time = readText(fields['time'], EVENT_CHARS_MAX);
  const [id, emailId] = ['id', 'email_id'].map((name) => readText(fields[name], ID_CHARS_MAX));
  const emails = recipientsOf(fields)
    .map(readRecipient)
    .filter((email) => email !== null);
  return [...new Set(emails)].map((email) => ({
    ...meaningOf(event, fields),
    email,
    occurredAt: readTime(time, receivedAt),
    sendId: sendIdOf(fields),
    messageIds: messageIdsOf(fields),
    reason: readReason(fields['message'], fields['reason'], fields['context']),
    isTest: false,
    dedupeKey: hashOf([first(id, emailId), event, email, id ? null : first(time)]),
    ...(!id && time === null ? { isUndated: true as const } : {}),
  }));
};

const MESSAGE = 'no event with a recipient: `event` and `rcpt` are needed';

const read = async ({ raw, contentType, receivedAt }: Posted): Promise<ReadResult> => {
  const notices = toNotices(readObject(await readFields(raw, contentType)), receivedAt);
  const errors = notices.length === 0 ? [{ index: 0, path: '', message: MESSAGE }] : [];
  return { notices, errors };
};

/** SMTP2GO, by API or by SMTP: one event per post, not signed. */
export const smtp2go = {
  name: 'SMTP2GO',
  about: 'not_foreign',
  service: 'smtp2go',
  verification: { kind: 'token' },
  mediaTypes: JSON_OR_FORM,
  setUp: {
    steps: [
      'Open Settings, Webhooks at SMTP2GO, and add a webhook with this URL.',
      'Add the authorization header Bearer with the webhook token.',
      'List the custom header X-Trunkline-Send-Id, so that each event names its email.',
    ],
    subscribeTo: [
      'delivered',
      'bounce',
      'spam',
      'unsubscribe',
      'resubscribe',
      'reject',
      'open',
      'click',
    ],
    isTokenInUrl: false,
  },
  read,
} as const satisfies Dialect;
