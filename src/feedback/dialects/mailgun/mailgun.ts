import { parseJson } from '../../../base/json.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect, Posted, ReadNotice, ReadResult } from '../dialect.ts';
import { hashOf } from '../event_key.ts';
import {
  present,
  readList,
  readObject,
  readReason,
  readRecipient,
  readSendId,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningsOf } from './mailgun_meaning.ts';
import { mailgunSignature } from './mailgun_signature.ts';

const reasonOf = (fields: Fields): string | null => {
  const status = readObject(fields['delivery-status']);
  const { reason } = readObject(fields['reject']);
  return readReason(status['message'], status['description'], reason, fields['reason']);
};

const toNotices = (fields: Fields, receivedAt: Date): ReadNotice[] => {
  const event = readText(fields['event'])?.toLowerCase();
  const headers = readObject(readObject(fields['message'])['headers']);
  const email = readRecipient(fields['recipient']) ?? readRecipient(headers['to']);
  if (!event || email === null) return [];

  const messageId = readText(headers['message-id']);
  const [time, id] = [readText(fields['timestamp']), readText(fields['id'])];
  const variables = readObject(fields['user-variables']);
  const tags = readList(fields['tags']).slice(0, 20);
  return meaningsOf(event, fields).map((says, nth) => ({
    ...says,
    email,
    occurredAt: readTime(time, receivedAt),
    sendId: readSendId(variables['send_id'], headers['x-trunkline-send-id'], ...tags),
    messageIds: present(messageId),
    reason: reasonOf(fields),
    isTest: readObject(fields['flags'])['is-test-mode'] === true,
    // Its id is unique within a day only.
    dedupeKey: hashOf([id, event, email, messageId, time, ...(nth === 0 ? [] : [says.kind])]),
    ...(id === null && time === null ? { isUndated: true } : {}),
  }));
};

const MESSAGE = 'no event with a recipient: `event-data` with `event` and `recipient` is needed';

const read = ({ raw, receivedAt }: Posted): ReadResult => {
  const notices = toNotices(readObject(readObject(parseJson(raw))['event-data']), receivedAt);
  if (notices.length > 0) return { notices, errors: [] };
  return { notices: [], errors: [{ index: 0, path: '/event-data', message: MESSAGE }] };
};

/** Mailgun: one event per post, signed with the account's HTTP webhook signing key. */
export const mailgun = {
  name: 'Mailgun',
  about: 'not_foreign',
  service: 'mailgun',
  verification: mailgunSignature,
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Open Send, Sending, Webhooks at Mailgun, and add a webhook with this URL for each of the events below.',
      'Copy the HTTP webhook signing key of your account, and set it here.',
    ],
    subscribeTo: [
      'Delivered Messages',
      'Temporary Failure',
      'Permanent Failure',
      'Spam Complaints',
      'Unsubscribes',
      'Opens',
      'Clicks',
    ],
    isTokenInUrl: false,
  },
  read,
} as const satisfies Dialect;
