import { parseJson } from '../../../base/json.ts';
import { pointer } from '../../../base/parse.ts';
import { Refusal } from '../../../base/refusal.ts';
import { judgeBounce } from '../../diagnostic.ts';
import { meaning } from '../../notice.ts';
import type { Meaning, Notice } from '../../notice.ts';
import { eventsOf } from '../batch.ts';
import { JSON_ONLY } from '../dialect.ts';
import type { Dialect, Posted, ReadError } from '../dialect.ts';
import { hashOf } from '../event_key.ts';
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
import { readBounceType, toWord } from './bounce_words.ts';
import { NOTICES_MAX } from './schema.ts';
import {
  CODE_NAMES,
  EVENT_NAMES,
  findMeaning,
  ID_NAMES,
  isBounce,
  MESSAGE_ID_NAMES,
  REASON_NAMES,
  RECIPIENT_NAMES,
  TIME_NAMES,
} from './words.ts';
export { GenericBody, NOTICES_MAX } from './schema.ts';

/** An id that is longer is none: the event is told from others by what else it says. */
export const EVENT_ID_CHARS_MAX = 128;

/** What an event cannot do without, and where it is missing or wrong. */
type Unread = { path: string; message: string };

const readName = (value: unknown): string | null =>
  typeof value === 'string' ? readText(value) : null;

const valuesOf = (fields: Fields, names: readonly string[]): unknown[] =>
  names.map((name) => fields[name]);

/** The first of several names for one thing that can be read. */
const readFirst = (fields: Fields, names: readonly string[], charsMax?: number): string | null =>
  first(...valuesOf(fields, names).map((value) => readText(value, charsMax)));

/** An id that was written as a number too large for one has been rounded: it may be another's. */
const readId = (value: unknown): string | null =>
  typeof value === 'number' && !Number.isSafeInteger(value)
    ? null
    : readText(value, EVENT_ID_CHARS_MAX);

/** How hard the relay says that it is, in a word of its own; the name of the event is not asked. */
const toldBounceType = ({ bounce_type, severity, event, type }: Fields): Notice['bounceType'] => {
  const beside = readName(event) === null ? null : type;
  return first(...[bounce_type, severity, beside].map(readName).map(readBounceType));
};

/** The codes and the texts that say why. */
const diagnosticOf = (fields: Fields): string | null =>
  joinReasons(...valuesOf(fields, CODE_NAMES), ...valuesOf(fields, REASON_NAMES));

const meaningOf = (name: string, fields: Fields): Meaning => {
  const told = toldBounceType(fields);
  if (isBounce(name)) return meaning('bounced', judgeBounce(told, diagnosticOf(fields)));
  const byName = findMeaning(name) ?? meaning('unknown');
  return byName.kind === 'bounced'
    ? meaning('bounced', judgeBounce(told ?? byName.bounceType, diagnosticOf(fields)))
    : byName;
};

const isThere = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

/**
 * Where a reader of the refusal should look: at the first of the names that is there, else at the
 * one to add.
 */
const unread = (fields: Fields, names: readonly string[], message: string): Unread => ({
  path: pointer([names.find((name) => isThere(fields[name])) ?? names[0] ?? '']),
  message,
});

/** The first name that has a text decides: an address beside one that is wrong may be another's. */
const recipientOf = (fields: Fields): string | null =>
  readRecipient(
    valuesOf(fields, RECIPIENT_NAMES).find(
      (value) => typeof value === 'string' && value.trim() !== '',
    ),
  );

/** What happened and the recipient have to be there; the rest counts where it can be read. */
const toNotice = (event: unknown, receivedAt: Date, untold: Date): Notice | Unread => {
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    return { path: '', message: 'must be an object' };
  const fields = readObject(event);
  const name = first(...valuesOf(fields, EVENT_NAMES).map(readName));
  if (name === null)
    return unread(fields, EVENT_NAMES, 'event is required: what happened, such as "bounce"');
  const email = recipientOf(fields);
  if (email === null)
    return unread(fields, RECIPIENT_NAMES, 'recipient is required: one e-mail address');

  const says = meaningOf(toWord(name), fields);
  const told = readFirst(fields, TIME_NAMES);
  const messageId = readFirst(fields, MESSAGE_ID_NAMES);
  const sendIds = [fields['send_id'], readObject(fields['metadata'])['send_id']].map(readName);
  const id = first(...valuesOf(fields, ID_NAMES).map(readId));
  // Ids name an email as often as an event, so what happened and the recipient are part of the key.
  const which = [says.kind, says.bounceType, email];
  return {
    ...says,
    email,
    occurredAt: told === null ? untold : readTime(told, receivedAt),
    messageIds: present(messageId),
    sendId: readSendId(...sendIds),
    reason: readReason(...valuesOf(fields, REASON_NAMES)),
    isTest: false,
    dedupeKey: hashOf(
      id === null ? [...which, name, messageId, first(...sendIds), told] : [...which, id],
    ),
    ...(id === null && told === null ? { isUndated: true } : {}),
  };
};

type ReadEvents = { notices: Notice[]; errors: ReadError[] };

const read = ({ raw, receivedAt }: Posted): ReadEvents => {
  const { events, path, pathOf } = eventsOf(parseJson(raw));
  if (events.length === 0 || events.length > NOTICES_MAX) {
    const issue = { path, message: `between 1 and ${NOTICES_MAX} events` };
    throw new Refusal('invalid_request', { issues: [issue] });
  }
  const result: ReadEvents = { notices: [], errors: [] };
  for (const [index, event] of events.entries()) {
    // What comes together without a time happened one after another, as it stands.
    const untold = new Date(receivedAt.getTime() - (events.length - 1 - index));
    const read = toNotice(event, receivedAt, untold);
    if ('email' in read) result.notices.push(read);
    else result.errors.push({ index, path: `${pathOf(index)}${read.path}`, message: read.message });
  }
  return result;
};

/** Relays without a dialect of their own. */
export const smtp = {
  name: 'Any other relay (generic)',
  about: 'any',
  verification: { kind: 'token' },
  mediaTypes: JSON_ONLY,
  setUp: {
    steps: [
      'Let your relay, or a script of yours, post its feedback to this URL as JSON.',
      'The reference at /docs has the schema.',
      'Send the webhook token with each post: as bearer token, Basic password or X-Webhook-Token.',
    ],
    subscribeTo: ['bounces', 'complaints', 'deliveries', 'unsubscribes', 'opens', 'clicks'],
    isTokenInUrl: false,
  },
  read,
} as const satisfies Dialect;
