// What each event of each vendor means, by their manuals.
import { describe, expect, test } from 'vitest';
import { dialectOf } from '../../../src/feedback/dialects/dialects.ts';
import type { Source } from '../../../src/feedback/dialects/dialects.ts';
import { inShort, readAs } from '../told.ts';
import {
  brevoEvent,
  mailjetEvent,
  postmarkBounce,
  postmarkEvent,
  resendEvent,
  sendgridEvent,
  sparkpostEvent,
} from '../vendor_payloads.ts';

const HARD = 'bounced, hard, suppresses as hard_bounce';
const LISTED = 'bounced, hard, suppresses as provider_suppressed';
const COMPLAINT = 'complained, suppresses as complaint';
const COMPLAINT_LISTED = 'rejected, suppresses as complaint';
const BLOCK = 'bounced, block';
const SOFT = 'bounced, soft';
const UNDETERMINED = 'bounced, undetermined';
const DELAY = 'deferred, soft';
const DROPPED_UNSUBSCRIBE = 'rejected + unsubscribed';

const GONE = '550 5.1.1 user unknown';
const FULL = '552 5.2.2 mailbox full';
const POLICY = '550 5.7.1 rejected by policy';

type Case = [event: unknown, meaning: string];

const judge = async (source: Source, event: unknown): Promise<string> => {
  const { notices, errors, asideCount } = await readAs(dialectOf(source), event);
  expect(errors).toEqual([]);
  return asideCount ? 'aside' : notices.map(inShort).join(' + ');
};

const testAll = (source: Source, cases: readonly Case[]) =>
  describe(dialectOf(source).name, () => {
    test.each(cases)('%j', async (event, expected) => {
      expect(await judge(source, event)).toBe(expected);
    });
  });

const change = (given: object) => postmarkEvent('SubscriptionChange', given);

testAll('postmark', [
  [postmarkEvent('Delivery'), 'delivered'],
  [postmarkEvent('Open'), 'opened'],
  [postmarkEvent('Click'), 'clicked'],
  [postmarkEvent('Something new'), 'unknown'],
  [postmarkEvent('__proto__'), 'unknown'],
  [postmarkEvent('Inbound'), 'aside'],
  [postmarkBounce('SpamComplaint', { RecordType: 'SpamComplaint' }), COMPLAINT],
  [postmarkBounce('HardBounce'), HARD],
  [postmarkBounce('HardBounce', { Details: `smtp;${GONE}` }), HARD],
  [postmarkBounce('HardBounce', { Details: POLICY }), BLOCK],
  [postmarkBounce('HardBounce', { Details: FULL }), SOFT],
  [postmarkBounce('BadEmailAddress'), HARD],
  [postmarkBounce('SoftBounce'), SOFT],
  [postmarkBounce('SoftBounce', { Details: GONE }), SOFT],
  [postmarkBounce('DnsError'), SOFT],
  [postmarkBounce('Transient'), DELAY],
  [postmarkBounce('Unknown'), UNDETERMINED],
  [postmarkBounce('Blocked'), BLOCK],
  [postmarkBounce('SpamNotification'), BLOCK],
  [postmarkBounce('VirusNotification'), BLOCK],
  [postmarkBounce('DMARCPolicy'), BLOCK],
  [postmarkBounce('SpamComplaint'), COMPLAINT],
  [postmarkBounce('Unsubscribe'), 'unsubscribed'],
  [postmarkBounce('Subscribe'), 'unknown'],
  [postmarkBounce('AutoResponder'), 'auto_reply'],
  [postmarkBounce('ChallengeVerification'), 'auto_reply'],
  [postmarkBounce('AddressChange'), 'auto_reply'],
  [postmarkBounce('OpenRelayTest'), 'unknown'],
  [postmarkBounce('InboundError'), 'unknown'],
  [postmarkBounce('ManuallyDeactivated'), 'rejected, suppresses as provider_suppressed'],
  [postmarkBounce('Unconfirmed'), 'rejected'],
  [postmarkBounce('SMTPApiError'), 'failed'],
  [postmarkBounce('SMTPApiError', { Details: '406: marked as inactive' }), LISTED],
  [postmarkBounce('TemplateRenderingFailed'), 'failed'],
  [postmarkBounce('A new type'), SOFT],
  [postmarkBounce('A new type', { Details: GONE }), HARD],
  [change({ SuppressSending: true, SuppressionReason: 'HardBounce' }), HARD],
  [change({ SuppressSending: true, SuppressionReason: 'SpamComplaint' }), COMPLAINT],
  [change({ SuppressSending: true, SuppressionReason: 'ManualSuppression' }), 'unsubscribed'],
  [change({ SuppressSending: true, SuppressionReason: 'New' }), 'unknown'],
  [change({ SuppressSending: false, Origin: 'Recipient' }), 'resubscribed'],
  [change({ SuppressSending: false, Origin: 'Customer' }), 'unknown'],
]);

const bounce = (given: object) => sendgridEvent('bounce', given);
const dropped = (reason: string) => sendgridEvent('dropped', { reason });

testAll('sendgrid', [
  [sendgridEvent('processed'), 'accepted'],
  [sendgridEvent('delivered', { response: '250 OK' }), 'delivered'],
  [sendgridEvent('deferred', { response: '450 4.2.0 try later' }), DELAY],
  [sendgridEvent('open'), 'opened'],
  [sendgridEvent('click'), 'clicked'],
  [sendgridEvent('spamreport'), COMPLAINT],
  [sendgridEvent('unsubscribe'), 'unsubscribed'],
  [sendgridEvent('group_unsubscribe'), 'unsubscribed'],
  [sendgridEvent('group_resubscribe'), 'resubscribed'],
  [sendgridEvent('account_status_change'), 'aside'],
  [bounce({ type: 'bounce', response: '400 try again later', attempt: '5' }), SOFT],
  [bounce({ type: 'bounce', response: GONE }), HARD],
  [sendgridEvent('something_new'), 'unknown'],
  [sendgridEvent('constructor'), 'unknown'],
  [bounce({ type: 'bounce', reason: GONE, status: '5.1.1' }), HARD],
  [bounce({ reason: '500 unknown recipient', status: '5.0.0' }), HARD],
  [bounce({ type: 'bounce', reason: FULL, status: '5.2.2' }), SOFT],
  [bounce({ type: 'bounce', reason: POLICY, status: '5.7.1' }), BLOCK],
  [bounce({ type: 'bounce', bounce_classification: 'Invalid Address' }), HARD],
  [bounce({ type: 'bounce', bounce_classification: 'Reputation' }), BLOCK],
  [bounce({ type: 'bounce', bounce_classification: 'Content' }), BLOCK],
  [bounce({ type: 'bounce', bounce_classification: 'Frequency or Volume Too High' }), BLOCK],
  [bounce({ type: 'bounce', bounce_classification: 'Mailbox Unavailable' }), SOFT],
  [bounce({ type: 'bounce', bounce_classification: 'Mailbox Unavailable', reason: GONE }), HARD],
  [bounce({ type: 'bounce', bounce_classification: 'Technical' }), SOFT],
  [bounce({ type: 'bounce', bounce_classification: 'Unclassified' }), HARD],
  [bounce({ type: 'blocked', reason: 'unable to get mx info' }), BLOCK],
  [bounce({ type: 'expired' }), SOFT],
  [dropped('Bounced Address'), LISTED],
  [dropped('Invalid'), LISTED],
  [dropped('Spam Reporting Address'), COMPLAINT_LISTED],
  [dropped('Unsubscribed Address'), DROPPED_UNSUBSCRIBE],
  [dropped('Spam Content (if Spam Checker app is enabled)'), 'rejected'],
  [dropped('Invalid SMTPAPI header'), 'rejected'],
  [dropped('Recipient List over Package Quota'), 'rejected'],
]);

const resendBounce = (given: object) => resendEvent('email.bounced', { bounce: given });
const reply = (diagnosticCode: unknown) => ({
  type: 'Permanent',
  subType: 'General',
  diagnosticCode,
});

testAll('resend', [
  [resendEvent('email.sent'), 'accepted'],
  [resendEvent('email.scheduled'), 'accepted'],
  [resendEvent('email.delivered'), 'delivered'],
  [resendEvent('email.delivery_delayed'), DELAY],
  [resendEvent('email.complained'), COMPLAINT],
  [resendEvent('email.opened'), 'opened'],
  [resendEvent('email.clicked', { click: { link: 'https://shop.test' } }), 'clicked'],
  [resendEvent('email.failed', { failed: { reason: 'reached_daily_quota' } }), 'failed'],
  [resendEvent('email.suppressed', { suppressed: { type: 'OnAccountSuppressionList' } }), LISTED],
  [resendBounce({ type: 'Permanent', subType: 'General' }), HARD],
  [resendBounce({ type: 'Permanent', subType: 'NoEmail' }), HARD],
  [resendBounce({ type: 'Permanent', subType: 'Suppressed' }), LISTED],
  [resendBounce({ type: 'Permanent', subType: 'OnAccountSuppressionList' }), LISTED],
  [resendBounce(reply(`smtp; ${GONE}`)), HARD],
  [resendBounce(reply([`smtp; ${POLICY}`])), BLOCK],
  [resendBounce(reply([`smtp; ${FULL}`])), SOFT],
  [resendBounce({ type: 'Transient', subType: 'General' }), SOFT],
  [resendBounce({ type: 'Transient', subType: 'MailboxFull' }), SOFT],
  [resendBounce({ type: 'Transient', subType: 'MessageTooLarge' }), BLOCK],
  [resendBounce({ type: 'Transient', subType: 'ContentRejected' }), BLOCK],
  [resendBounce({ type: 'Transient', subType: 'AttachmentRejected' }), BLOCK],
  [resendBounce({ type: 'Undetermined' }), UNDETERMINED],
  [resendBounce({ message: 'The provider sent a hard bounce message.' }), HARD],
  [resendBounce({ message: 'Resend has suppressed sending to this address.' }), LISTED],
  [resendBounce({ message: 'The provider sent a general bounce message.' }), UNDETERMINED],
  [
    resendEvent('suppression.added', { to: undefined, email: 'a@b.test', origin: 'bounce' }),
    LISTED,
  ],
  [resendEvent('suppression.added', { origin: 'complaint' }), COMPLAINT],
  [
    resendEvent('suppression.added', { origin: 'manual' }),
    'unknown, suppresses as provider_suppressed',
  ],
  [resendEvent('suppression.removed'), 'unknown'],
  [resendEvent('contact.updated', { unsubscribed: true }), 'unsubscribed'],
  [resendEvent('contact.updated', { unsubscribed: false }), 'unknown'],
  [resendEvent('contact.created', { unsubscribed: false }), 'aside'],
  [resendEvent('domain.updated'), 'aside'],
  [resendEvent('email.received'), 'aside'],
  [resendEvent('email.new'), 'unknown'],
]);

testAll('brevo', [
  [brevoEvent('request'), 'accepted'],
  [brevoEvent('delivered'), 'delivered'],
  [brevoEvent('deferred', { reason: GONE }), DELAY],
  [brevoEvent('hard_bounce'), HARD],
  [brevoEvent('hardBounce', { reason: '550 5.5.0 mailbox unavailable' }), HARD],
  [brevoEvent('hard_bounce', { reason: POLICY }), BLOCK],
  [brevoEvent('hard_bounce', { reason: FULL }), SOFT],
  [brevoEvent('soft_bounce'), SOFT],
  [brevoEvent('soft_bounce', { reason: POLICY }), BLOCK],
  [brevoEvent('invalid_email'), HARD],
  [brevoEvent('error'), 'failed'],
  [brevoEvent('blocked', { reason: 'blocked : due to blacklist user' }), 'rejected'],
  [brevoEvent('blocked', { reason: 'blocked : due to unsubscribed user' }), DROPPED_UNSUBSCRIBE],
  [brevoEvent('blocked', { reason: 'blocked : hard bounced before' }), LISTED],
  [brevoEvent('blocked', { reason: 'blocked : complained before' }), COMPLAINT_LISTED],
  [brevoEvent('spam'), COMPLAINT],
  [brevoEvent('complaint'), COMPLAINT],
  [brevoEvent('unsubscribed'), 'unsubscribed'],
  [brevoEvent('opened'), 'opened'],
  [brevoEvent('unique_opened'), 'opened'],
  [brevoEvent('proxy_open'), 'opened'],
  [brevoEvent('unique_proxy_open'), 'opened'],
  [brevoEvent('click'), 'clicked'],
  [brevoEvent('list_addition'), 'aside'],
  [brevoEvent('contact_updated'), 'aside'],
  [brevoEvent('something_new'), 'unknown'],
]);

const mailjetBounce = (error: string, hard_bounce = true, comment = '') =>
  mailjetEvent('bounce', { error, hard_bounce, comment });
const blocked = (error: string) => mailjetEvent('blocked', { error });

testAll('mailjet', [
  [mailjetEvent('sent', { smtp_reply: 'sent (250 OK)' }), 'delivered'],
  [mailjetEvent('open'), 'opened'],
  [mailjetEvent('click'), 'clicked'],
  [mailjetEvent('spam', { source: 'JMRPP' }), COMPLAINT],
  [mailjetEvent('unsub'), 'unsubscribed'],
  [mailjetEvent('new'), 'unknown'],
  [mailjetBounce('user unknown'), HARD],
  [mailjetBounce('user unknown', false), SOFT],
  [mailjetBounce('mailbox inactive'), HARD],
  [mailjetBounce('invalid domain'), HARD],
  [mailjetBounce('user unknown', true, POLICY), BLOCK],
  [mailjetBounce('quota exceeded'), SOFT],
  [mailjetBounce('no mail host'), SOFT],
  [mailjetBounce('relay/access denied'), BLOCK],
  [mailjetBounce('greylisted', false), DELAY],
  [mailjetBounce('sender blocked'), BLOCK],
  [mailjetBounce('content blocked'), BLOCK],
  [mailjetBounce('policy issue'), BLOCK],
  [mailjetBounce('system issue'), SOFT],
  [mailjetBounce('connection issue'), SOFT],
  [mailjetBounce('', true), HARD],
  [blocked('preblocked'), LISTED],
  [blocked('user unknown'), LISTED],
  [blocked('typofix'), LISTED],
  [blocked('spam reporter'), COMPLAINT_LISTED],
  [blocked('blacklisted'), 'rejected'],
  [blocked('duplicate in campaign'), 'rejected'],
  [blocked('bad or empty template'), 'rejected'],
]);

const sparkpostBounce = (bounce_class: string, raw_reason?: string, type = 'bounce') =>
  sparkpostEvent(type, { bounce_class, raw_reason });
const inGroup = (group: string, type: string) => sparkpostEvent(type, {}, group);

testAll('sparkpost', [
  [[{ msys: {} }], 'aside'],
  [sparkpostEvent('injection'), 'accepted'],
  [sparkpostEvent('delivery'), 'delivered'],
  [sparkpostEvent('delay', { bounce_class: '21' }), DELAY],
  [sparkpostEvent('spam_complaint', { fbtype: 'abuse' }), COMPLAINT],
  [sparkpostEvent('spam_complaint', { fbtype: 'not-spam' }), 'not_spam'],
  [sparkpostEvent('spam_complaint', { fbtype: 'opt-out' }), 'unsubscribed'],
  [sparkpostEvent('spam_complaint', { fbtype: 'auth-failure' }), 'unknown'],
  [sparkpostEvent('policy_rejection', { bounce_class: '25' }), 'rejected'],
  [inGroup('gen_event', 'generation_failure'), 'failed'],
  [inGroup('gen_event', 'generation_rejection'), 'rejected'],
  [inGroup('unsubscribe_event', 'list_unsubscribe'), 'unsubscribed'],
  [inGroup('unsubscribe_event', 'link_unsubscribe'), 'unsubscribed'],
  [inGroup('track_event', 'open'), 'opened'],
  [inGroup('track_event', 'initial_open'), 'opened'],
  [inGroup('track_event', 'amp_open'), 'opened'],
  [inGroup('track_event', 'click'), 'clicked'],
  [inGroup('track_event', 'amp_click'), 'clicked'],
  [inGroup('relay_event', 'relay_delivery'), 'aside'],
  [inGroup('ab_test_event', 'ab_test_completed'), 'aside'],
  [inGroup('message_event', 'something_new'), 'unknown'],
  [sparkpostBounce('10', GONE), HARD],
  [sparkpostBounce('10', POLICY), BLOCK],
  [sparkpostBounce('10', GONE, 'out_of_band'), HARD],
  [sparkpostBounce('30'), HARD],
  [sparkpostBounce('1'), UNDETERMINED],
  [sparkpostBounce('20'), SOFT],
  [sparkpostBounce('21'), SOFT],
  [sparkpostBounce('22'), SOFT],
  [sparkpostBounce('23'), BLOCK],
  [sparkpostBounce('24'), SOFT],
  [sparkpostBounce('25'), 'rejected'],
  [sparkpostBounce('26'), 'rejected'],
  [sparkpostBounce('40'), SOFT],
  [sparkpostBounce('50'), BLOCK],
  [sparkpostBounce('51'), BLOCK],
  [sparkpostBounce('52'), BLOCK],
  [sparkpostBounce('53'), BLOCK],
  [sparkpostBounce('54'), BLOCK],
  [sparkpostBounce('60'), 'auto_reply'],
  [sparkpostBounce('70'), SOFT],
  [sparkpostBounce('80'), 'unknown'],
  [sparkpostBounce('90'), 'unsubscribed'],
  [sparkpostBounce('100'), 'auto_reply'],
  [sparkpostBounce('999'), SOFT],
  [sparkpostBounce('999', GONE), HARD],
]);
