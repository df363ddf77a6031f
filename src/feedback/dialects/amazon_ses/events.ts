import { parseJson } from '../../../base/json.ts';
import { meaning, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning, Notice } from '../../notice.ts';
import type { ReadResult } from '../dialect.ts';
import { hashOf } from '../event_key.ts';
import { meaningOfFeedbackType } from '../feedback_types.ts';
import {
  first,
  joinReasons,
  readList,
  readObject,
  readReason,
  readRecipient,
  readSendId,
  readSendIdOfHeaders,
  readText,
  readTime,
} from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningOfSesBounce } from '../ses_bounce.ts';

const RECIPIENTS_MAX = 100;

/** Bounces of addresses on a list of Amazon SES, which sent nothing. */
const ON_THEIR_LISTS: readonly unknown[] = [
  'Suppressed',
  'OnAccountSuppressionList',
  'OnTenantSuppressionList',
  'EmailValidationSuppressed',
];

/**
 * What one kind of event is about: its detail, its recipients in there, and what it means for each.
 */
type Kind = {
  detail: string;
  recipients?: string;
  meaningOf: (detail: Fields, recipient: Fields) => Meaning;
};

/** An out-of-office reply comes without a report of a host about it. */
const hasReport = (recipient: Fields): boolean =>
  ['status', 'action', 'diagnosticCode'].some((name) => readText(recipient[name]) !== null);

const meaningOfBounce = (detail: Fields, recipient: Fields): Meaning => {
  const { bounceType, bounceSubType } = detail;
  if (bounceType === 'Permanent') {
    if (bounceSubType === 'UnsubscribedRecipient') return meaning('unsubscribed');
    if (ON_THEIR_LISTS.includes(bounceSubType)) return ON_PROVIDER_LIST;
  }
  if (bounceType === 'Transient' && bounceSubType === 'General' && !hasReport(recipient))
    return meaning('auto_reply');
  const reply = joinReasons(recipient['diagnosticCode'], recipient['status']);
  return meaningOfSesBounce(bounceType, bounceSubType, reply);
};

const meaningOfComplaint = (detail: Fields): Meaning => {
  const says = meaningOfFeedbackType(readText(detail['complaintFeedbackType']));
  const isListed = ON_THEIR_LISTS.includes(detail['complaintSubType']);
  return says.kind === 'complained' && isListed
    ? { ...says, suppresses: 'provider_suppressed' }
    : says;
};

const meaningOfSubscription = (detail: Fields): Meaning => {
  const preferences = readObject(detail['newTopicPreferences']);
  const topics = readList(preferences['topicSubscriptionStatus']).map(readObject);
  const isOut =
    preferences['unsubscribeAll'] === true ||
    topics.some(({ subscriptionStatus }) => subscriptionStatus === 'OptOut');
  return meaning(isOut ? 'unsubscribed' : 'unknown');
};

/**
 * Their kinds of events. A key for each detail, and where in it the recipients are, if not in
 * `mail`.
 */
const KINDS = new Map<string, Kind>([
  ['Bounce', { detail: 'bounce', recipients: 'bouncedRecipients', meaningOf: meaningOfBounce }],
  [
    'Complaint',
    { detail: 'complaint', recipients: 'complainedRecipients', meaningOf: meaningOfComplaint },
  ],
  [
    'Delivery',
    { detail: 'delivery', recipients: 'recipients', meaningOf: () => meaning('delivered') },
  ],
  ['Send', { detail: 'send', meaningOf: () => meaning('accepted') }],
  ['Reject', { detail: 'reject', meaningOf: () => meaning('failed') }],
  ['Rendering Failure', { detail: 'failure', meaningOf: () => meaning('failed') }],
  ['Open', { detail: 'open', meaningOf: () => meaning('opened') }],
  ['Click', { detail: 'click', meaningOf: () => meaning('clicked') }],
  [
    'DeliveryDelay',
    {
      detail: 'deliveryDelay',
      recipients: 'delayedRecipients',
      meaningOf: () => meaning('deferred', 'soft'),
    },
  ],
  ['Subscription', { detail: 'subscription', meaningOf: meaningOfSubscription }],
]);

/** A recipient as they list it: an address, or an object with one. */
const addressOf = (listed: unknown): string | null =>
  readRecipient(typeof listed === 'string' ? listed : readObject(listed)['emailAddress']);

/** Our own id, where a tag or a header brings it back. */
const sendIdOf = (mail: Fields): string | null =>
  readSendId(...readList(readObject(mail['tags'])['send_id'])) ??
  readSendIdOfHeaders(mail['headers']);

/** Their id of the message; over SMTP it was answered as a Message-ID of theirs, by region. */
const messageIdsOf = (mail: Fields): string[] => {
  const id = readText(mail['messageId'], 200);
  if (id === null || !/^[\w-]+$/.test(id)) return [];
  const [, , , region = ''] = (readText(mail['sourceArn']) ?? '').split(':');
  const hosts = ['email', ...(/^[a-z0-9-]{3,30}$/.test(region) ? [region] : [])];
  return [id, ...hosts.map((host) => `${id}@${host}.amazonses.com`)];
};

const reasonOf = (detail: Fields, recipient: Fields): string | null =>
  readReason(
    recipient['diagnosticCode'],
    detail['smtpResponse'],
    detail['errorMessage'],
    detail['reason'],
    detail['bounceSubType'],
    detail['complaintFeedbackType'],
    detail['delayType'],
  );

const toNotices = (type: string, event: Fields, receivedAt: Date): Notice[] => {
  const kind = KINDS.get(type);
  const mail = readObject(event['mail']);
  const detail = readObject(kind && event[kind.detail]);
  const listed = readList(kind?.recipients ? detail[kind.recipients] : mail['destination']);
  const time = first(readText(detail['timestamp']), readText(mail['timestamp']));
  const told = new Map<string, Notice>();
  for (const one of listed.slice(0, RECIPIENTS_MAX)) {
    const email = addressOf(one);
    if (email === null) continue;
    const recipient = readObject(one);
    const says = kind ? kind.meaningOf(detail, recipient) : meaning('unknown');
    const id = first(readText(detail['feedbackId']), time);
    told.set(email, {
      ...says,
      email,
      occurredAt: readTime(time, receivedAt),
      sendId: sendIdOf(mail),
      messageIds: messageIdsOf(mail),
      reason: reasonOf(detail, recipient),
      isTest: false,
      dedupeKey: hashOf([readText(mail['messageId']), type, email, id]),
      ...(id === null ? { isUndated: true } : {}),
    });
  }
  return [...told.values()];
};

/** What SES writes at the set-up of a topic, and about email that it received. */
const SAYS_NOTHING = ['AmazonSnsSubscriptionSucceeded', 'Received'];
const SET_UP = /^Successfully validated SNS topic/;

const readJson = (text: string): unknown => {
  try {
    return parseJson(Buffer.from(text));
  } catch {
    return null;
  }
};

/**
 * Whether a body is an event of Amazon EventBridge, which wraps the same event and bears no
 * signature.
 */
export const isEventBridge = (body: unknown): boolean => {
  const { source, detail } = readObject(body);
  return source === 'aws.ses' && typeof detail === 'object' && detail !== null;
};

const ASIDE: ReadResult = { notices: [], errors: [], asideCount: 1 };

/**
 * Returns what the text of a notification reports; all formats of Amazon SES have the same details.
 */
export const readSesMessage = (text: string, receivedAt: Date): ReadResult => {
  if (SET_UP.test(text)) return ASIDE;
  const body = readJson(text);
  const event = readObject(isEventBridge(body) ? readObject(body)['detail'] : body);
  const type = first(readText(event['eventType']), readText(event['notificationType']));
  if (type !== null && SAYS_NOTHING.includes(type)) return ASIDE;
  const notices = type === null ? [] : toNotices(type, event, receivedAt);
  const message = 'no event with a recipient in Message';
  const errors = notices.length === 0 ? [{ index: 0, path: '/Message', message }] : [];
  return { notices, errors };
};
