import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { Refusal } from '../base/refusal.ts';
import { bounceTypeOf } from './bounce_type.ts';
import { hashOf, meaning } from './notice.ts';
import type { Adapter, Meaning, Notice, Posted, ReadResult } from './notice.ts';
import {
  first,
  NAME_CHARS_MAX,
  readReason,
  readRecipient,
  readSendId,
  readTime,
  toText,
} from './reading.ts';

export const NOTICES_MAX = 500;
export const EVENT_ID_CHARS_MAX = 128;

/** What one dialect takes that has no other. */
export const JSON_ONLY = /^application\/(?:[\w.+-]{1,60}\+)?json\s*(?:;|$)/i;

const Text = z.string().transform(toText).nullish();
const Name = z.string().max(NAME_CHARS_MAX).transform(toText).nullish();
const Address = z.string().max(NAME_CHARS_MAX).nullish();
const Id = z.string().max(EVENT_ID_CHARS_MAX).transform(toText).nullish();
const Time = z.union([z.string().transform(toText), z.number()]).nullish();
const Code = z.coerce.number().int().min(100).max(599).nullish();

/** The generic schema: one object, an array, or `{ "events": [...] }`, with the names that relays use. */
const GenericEvent = z
  .looseObject({
    event: Name,
    type: Name,
    recipient: Address,
    email: Address,
    rcpt: Address,
    to: Address,
    bounce_type: Name,
    severity: Name,
    occurred_at: Time,
    timestamp: Time,
    time: Time,
    message_id: Name,
    'Message-ID': Name,
    send_id: Name,
    metadata: z.looseObject({ send_id: Name }).nullish(),
    code: Code,
    smtp_code: Code,
    enhanced_code: Name,
    status: Name,
    reason: Text,
    diagnostic: Text,
    response: Text,
    description: Text,
    event_id: Id,
    id: Id,
    uuid: Id,
  })
  .meta({
    id: 'Notice',
    description:
      'What a relay tells about one message. It has to say what happened (`event` or `type`) and to whom ' +
      '(`recipient`, `email`, `rcpt` or `to`). The other names are what relays call the rest. Of several names ' +
      'for one thing the first that is there counts; unknown names are ignored.',
  });
type GenericEvent = z.output<typeof GenericEvent>;

const meanings: Record<string, Meaning> = Object.assign(Object.create(null), {
  ...named(['delivered', 'delivery', 'sent_ok'], 'delivered', null),
  ...named(['hard_bounce', 'hard_bounced', 'permanent_fail', 'invalid_email'], 'bounced', 'hard'),
  ...named(['soft_bounce', 'soft_bounced'], 'bounced', 'soft'),
  ...named(['temporary_fail', 'deferred', 'delivery_delayed', 'delay'], 'deferred', 'soft'),
  ...named(
    ['complaint', 'complained', 'spam', 'spam_complaint', 'spam_report', 'spamreport', 'abuse'],
    'complained',
    null,
  ),
  ...named(['unsubscribe', 'unsubscribed'], 'unsubscribed', null),
  ...named(['resubscribe', 'resubscribed'], 'resubscribed', null),
  ...named(['reject', 'rejected', 'dropped', 'blocked'], 'rejected', null),
  ...named(['open', 'opened', 'opens'], 'opened', null),
  ...named(['click', 'clicked', 'clicks'], 'clicked', null),
}) as Record<string, Meaning>;

function named(
  names: string[],
  kind: Notice['kind'],
  bounceType: Notice['bounceType'],
): Record<string, Meaning> {
  return Object.fromEntries(names.map((name) => [name, meaning(kind, bounceType)]));
}

const toName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.-]+/g, '_')
    .replace(/^(?:email|message)_/, '');

const reasonOf = (event: GenericEvent): string | null =>
  readReason(event.reason, event.diagnostic, event.response, event.description);

/** Hard, soft or blocked: as the relay calls it, else by its codes. */
const bounceTypeOfEvent = (event: GenericEvent): Notice['bounceType'] => {
  const told = first(event.bounce_type, event.severity)?.toLowerCase();
  if (told === 'hard' || told === 'permanent') return 'hard';
  if (told !== undefined) return told === 'block' ? 'block' : 'soft';
  return bounceTypeOf({
    code: first(event.code, event.smtp_code),
    enhanced: first(event.enhanced_code, event.status),
    reason: reasonOf(event),
  });
};

const meaningOf = (name: string, event: GenericEvent): Meaning => {
  if (name === 'bounce' || name === 'bounced') return meaning('bounced', bounceTypeOfEvent(event));
  const byName = meanings[name] ?? meaning('unknown');
  const isHardByName = byName.kind === 'bounced';
  const isToldOtherwise = isHardByName && first(event.bounce_type, event.severity) !== null;
  return isToldOtherwise ? meaning('bounced', bounceTypeOfEvent(event)) : byName;
};

const toNotice = (event: GenericEvent, receivedAt: Date): Notice | string => {
  const name = first(event.event, event.type);
  if (name === null) return 'event is required: what happened, such as "bounce"';
  const email = readRecipient(event.recipient || event.email || event.rcpt || event.to);
  if (email === null) return 'recipient is required: one e-mail address';

  const told = first(event.occurred_at, event.timestamp, event.time);
  const messageId = first(event.message_id, event['Message-ID']);
  const sendId = first(event.send_id, event.metadata?.send_id);
  const given = first(event.event_id, event.id, event.uuid);
  return {
    ...meaningOf(toName(name), event),
    email,
    occurredAt: readTime(told, receivedAt),
    messageIds: messageId === null ? [] : [messageId],
    sendId: readSendId(sendId),
    reason: reasonOf(event),
    isTest: false,
    dedupeKey:
      given ?? hashOf([name, email, messageId, sendId, told === null ? null : String(told)]),
  };
};

/** What `read` takes without a complaint: for the documents. */
export const GenericBody = z
  .union([
    GenericEvent,
    z.array(GenericEvent).min(1).max(NOTICES_MAX),
    z.looseObject({ events: z.array(GenericEvent).min(1).max(NOTICES_MAX) }),
  ])
  .meta({
    examples: [
      {
        event: 'bounce',
        bounce_type: 'hard',
        recipient: 'bob@example.com',
        reason: '550 5.1.1 user unknown',
        event_id: 'relay-4711',
      },
    ],
  });

const Envelope = z.union([z.array(z.unknown()), z.looseObject({ events: z.array(z.unknown()) })]);

type Placed = { event: unknown; path: string };

/** The events of a body, and where each stands in it as a JSON Pointer. */
const toEvents = (body: unknown): Placed[] => {
  const envelope = Envelope.safeParse(body);
  if (!envelope.success) return [{ event: body, path: '' }];
  const isBare = Array.isArray(envelope.data);
  const events = Array.isArray(envelope.data) ? envelope.data : envelope.data.events;
  return events.map((event, at) => ({ event, path: `${isBare ? '' : '/events'}/${at}` }));
};

const read = ({ raw, receivedAt }: Posted): ReadResult => {
  const events = toEvents(parseJson(raw));
  if (events.length === 0 || events.length > NOTICES_MAX) {
    throw new Refusal('invalid_request', {
      issues: [{ path: '', message: `between 1 and ${NOTICES_MAX} events` }],
    });
  }
  const result: ReadResult = { notices: [], errors: [] };
  for (const [index, { event, path }] of events.entries()) {
    const parsed = GenericEvent.safeParse(event);
    const notice = parsed.success
      ? toNotice(parsed.data, receivedAt)
      : parsed.error.issues[0]?.message;
    if (typeof notice === 'object') result.notices.push(notice);
    else result.errors.push({ index, path, message: notice ?? 'not an event' });
  }
  return result;
};

/** Relays without a dialect of their own. */
export const generic = {
  proof: 'token',
  mediaTypes: JSON_ONLY,
  read,
} as const satisfies Adapter;
