import { createHmac, timingSafeEqual } from 'node:crypto';
import { bounceTypeOf } from '../base/bounce_type.ts';
import { parseJson } from '../base/json.ts';
import { JSON_ONLY } from './generic.ts';
import { hashOf, meaning } from './notice.ts';
import type { Adapter, Meaning, Notice, Posted, ReadResult } from './notice.ts';
import {
  first,
  readList,
  readObject,
  readReason,
  readRecipient,
  readSendId,
  readText,
  readTime,
} from './reading.ts';

type Fields = Record<string, unknown>;

/** How old a signature may be. They try again for eight hours, and may not sign anew. */
export const SIGNATURE_HOURS_MAX = 24;
/** How far their clock may be ahead of ours. */
const AHEAD_MS_MAX = 5 * 60_000;
const HOUR_MS = 3_600_000;
const TOKEN_CHARS_MAX = 100;

export type Signed = { kind: 'proven'; token: string } | { kind: 'wrong' } | { kind: 'stale' };

/** Whether one of their signatures was made with the key. */
const isSigned = (key: string, fields: Fields): boolean => {
  const signature = readText(fields['signature'], TOKEN_CHARS_MAX) ?? '';
  const [timestamp, token] = [readText(fields['timestamp']) ?? '', readText(fields['token']) ?? ''];
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  if (!/^\d{1,12}$/.test(timestamp) || token === '' || token.length > TOKEN_CHARS_MAX) return false;
  const expected = createHmac('sha256', key).update(`${timestamp}${token}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
};

/**
 * Whether a body is signed with the key, by the account itself or by its parent's. It covers a time and a token,
 * not the event: whoever takes the body has to remember the token.
 */
export const checkSignature = (body: unknown, key: string, now: Date): Signed => {
  const both = [
    readObject(readObject(body)['signature']),
    readObject(readObject(body)['parent-signature']),
  ];
  const proven = both.find((fields) => isSigned(key, fields));
  if (!proven) return { kind: 'wrong' };
  const age = now.getTime() - Number(proven['timestamp']) * 1_000;
  if (age > SIGNATURE_HOURS_MAX * HOUR_MS || age < -AHEAD_MS_MAX) return { kind: 'stale' };
  return { kind: 'proven', token: String(proven['token']) };
};

const MEANINGS = new Map<string, Meaning>([
  ['accepted', meaning('accepted')],
  ['delivered', meaning('delivered')],
  ['opened', meaning('opened')],
  ['clicked', meaning('clicked')],
  ['complained', meaning('complained')],
  ['unsubscribed', meaning('unsubscribed')],
  ['rejected', meaning('rejected')],
]);

/** What they did not even try, for what their own lists say of the address: by reason, and by code. */
const OF_THEIR_LISTS = new Map<unknown, Meaning>([
  ['suppress-bounce', { ...meaning('bounced', 'hard'), suppresses: 'provider_suppressed' }],
  [605, { ...meaning('bounced', 'hard'), suppresses: 'provider_suppressed' }],
  ['suppress-complaint', { ...meaning('rejected'), suppresses: 'complaint' }],
  [607, { ...meaning('rejected'), suppresses: 'complaint' }],
  ['suppress-unsubscribe', meaning('unsubscribed')],
]);

/** No host takes mail for the domain, or none could be reached: not the mailbox's word. */
const NO_REPLY_CODES = [0, 498, 499];

const OVER_QUOTA = 552;
/** Refusals of the sender or the content, and mailboxes that are full, in the words of those without codes. */
const SAYS_OTHERWISE =
  /spam|block|blacklist|policy|reputation|denied|prohibited|quota|full|too large/i;

const meaningOfPermanent = (reason: string, status: Fields): Meaning => {
  const code = Number(readText(status['code']) ?? Number.NaN);
  const listed = OF_THEIR_LISTS.get(reason) ?? OF_THEIR_LISTS.get(code);
  if (listed) return listed;
  if (reason === 'espblock') return meaning('bounced', 'block');
  if (reason === 'old' || NO_REPLY_CODES.includes(code)) return meaning('bounced', 'soft');

  const text = readReason(status['message'], status['description']);
  const [inText] = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(text ?? '') ?? [];
  const enhanced = first(readText(status['enhanced-code']), inText);
  const known = bounceTypeOf({ code: Number.isNaN(code) ? null : code, enhanced, reason: text });
  const isSilent = Number.isNaN(code) && enhanced === null && text === null;
  const isSaidPermanent =
    reason === 'bounce' || reason === 'hardfail' || (isSilent && reason !== 'greylisted');
  const isContradicted =
    enhanced !== null || SAYS_OTHERWISE.test(text ?? '') || code === OVER_QUOTA;
  // Without a code that says more, a bounce is what they call it: permanent, and on their own list from now on. So
  // is whatever failed for good where the host's answer is not told at all.
  return meaning('bounced', isSaidPermanent && !isContradicted ? 'hard' : known);
};

const meaningOf = (event: string, fields: Fields): Meaning => {
  if (event !== 'failed') return MEANINGS.get(event) ?? meaning('unknown');
  const reason = readText(fields['reason']) ?? '';
  return fields['severity'] === 'permanent'
    ? meaningOfPermanent(reason, readObject(fields['delivery-status']))
    : meaning('deferred', 'soft');
};

const reasonOf = (fields: Fields): string | null => {
  const status = readObject(fields['delivery-status']);
  const { reason } = readObject(fields['reject']);
  return readReason(status['message'], status['description'], reason, fields['reason']);
};

const toNotice = (fields: Fields, receivedAt: Date): Notice | null => {
  const event = readText(fields['event'])?.toLowerCase();
  const headers = readObject(readObject(fields['message'])['headers']);
  const email = readRecipient(fields['recipient']) ?? readRecipient(headers['to']);
  if (!event || email === null) return null;

  const messageId = readText(headers['message-id']);
  const time = readText(fields['timestamp']);
  const variables = readObject(fields['user-variables']);
  const tags = readList(fields['tags']).slice(0, 20);
  return {
    ...meaningOf(event, fields),
    email,
    occurredAt: readTime(time, receivedAt),
    sendId: readSendId(variables['send_id'], headers['x-trunkline-send-id'], ...tags),
    messageIds: messageId === null ? [] : [messageId],
    reason: reasonOf(fields),
    isTest: readObject(fields['flags'])['is-test-mode'] === true,
    // Their id is unique within a day only.
    dedupeKey: hashOf([readText(fields['id']), event, email, messageId, time]),
  };
};

const MESSAGE = 'no event with a recipient: `event-data` with `event` and `recipient` is needed';

const read = ({ raw, receivedAt }: Posted): ReadResult => {
  const notice = toNotice(readObject(readObject(parseJson(raw))['event-data']), receivedAt);
  if (notice) return { notices: [notice], errors: [] };
  return { notices: [], errors: [{ index: 0, path: '/event-data', message: MESSAGE }] };
};

/** Mailgun: one event per post, signed with the account's HTTP webhook signing key. */
export const mailgun = {
  proof: 'signing_key',
  about: 'not_foreign',
  mediaTypes: JSON_ONLY,
  read,
} as const satisfies Adapter;
