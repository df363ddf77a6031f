import type { AnswerMeaning, AnswerScope, Classification } from './answers/answers.ts';
import { readCodes } from '../base/reply_codes.ts';
import { bounced, deferred, rejected } from './outcome.ts';
import type { Deferral, FailureReason, RefusedOutcome, SaidBounce } from './outcome.ts';

/** A limit of hours or days: there is nothing to gain by trying more slowly. */
const LONG_LIMIT = new RegExp(
  '\\b(?:dai?ly|day|hour(?:ly)?|month(?:ly)?|week(?:ly)?|24 ?h|quota|credits?|plan|allowance)\\b' +
    // Exim's periods: `100 messages per 1d`, `101.2 / 1h`.
    '|(?:\\bper|/) ?\\d{1,3}[hdw]\\b',
  'i',
);
/** A limit of what is taken at a time. */
const RATE_LIMIT = new RegExp(
  '\\b(?:rate(?: ?limit\\w{0,5})?|second|minute|throttl\\w{0,5}|slow down' +
    '|too (?:fast|quickly|many (?:messages|requests)))\\b',
  'i',
);
/** A wait of this many seconds or more is no matter of the rate. */
const QUOTA_RETRY_SECONDS = 3_600;

/** Too Many Requests (RFC 6585 §4): a rate, where nothing says otherwise. */
const TOO_MANY_REQUESTS = 429;

const limitOf = (
  { text, status }: Said,
  seconds: number | undefined,
): [FailureReason, Deferral] => {
  const isLong = (seconds ?? 0) >= QUOTA_RETRY_SECONDS || LONG_LIMIT.test(text);
  const isRate = status === TOO_MANY_REQUESTS || RATE_LIMIT.test(text);
  return !isLong && isRate ? ['throttled', 'rate'] : ['quota_exhausted', 'hold'];
};

/** The words of an answer, and its status where it came over HTTPS. */
type Said = { text: string; status?: number };

/** The failure class of an answer about the account or the sender, by its meaning. */
const ACCOUNT_REASONS: Partial<Record<AnswerMeaning, FailureReason>> = {
  account_suspended: 'account_blocked',
  auth_required_or_policy: 'permission_denied',
  connection_limit: 'connection_limit',
  relay_denied: 'permission_denied',
  reputation_refused: 'reputation_refused',
  dns_sender_problem: 'sender_domain_problem',
};

/** The host of one region does not know what another one verified. */
const OTHER_REGION =
  /credential should be scoped to a valid region|\bdomain (?:\S{1,255} )?not found/i;
const REGIONAL: readonly AnswerMeaning[] = ['auth_failed', 'sender_not_allowed'];

const accountReason = (
  { scope, meaning }: Classification,
  { text, status }: Said,
): FailureReason => {
  if (REGIONAL.includes(meaning) && OTHER_REGION.test(text)) return 'region_mismatch';
  if (meaning === 'auth_failed') return status ? 'invalid_key' : 'authentication_failed';
  if (meaning === 'sender_not_allowed' && scope === 'account') return 'sandboxed';
  return (
    ACCOUNT_REASONS[meaning] ?? (scope === 'sender' ? 'sender_not_verified' : 'account_refused')
  );
};

/** What may pass without a change of the record: a probe finds out. */
const PASSING: readonly FailureReason[] = [
  'reputation_refused',
  'sender_domain_problem',
  'sandboxed',
];

const ofAccount = (found: Classification, said: Said): RefusedOutcome => {
  const { meaning, retry, retryAfterSeconds } = found;
  if (meaning === 'account_limit')
    return deferred(...limitOf(said, retryAfterSeconds), retryAfterSeconds);
  if (meaning === 'connection_limit') return deferred('connection_limit', 'connection');
  const reason = accountReason(found, said);
  const isPassing = retry === 'later' || PASSING.includes(reason);
  return deferred(reason, isPassing ? 'hold' : 'park', retryAfterSeconds);
};

const ofConnection = ({ meaning, retry, retryAfterSeconds }: Classification): RefusedOutcome => {
  if (retry === 'later') return deferred('connection_limit', 'connection', retryAfterSeconds);
  const reason = meaning === 'tls_required' ? 'tls_required' : 'connection_refused_by_policy';
  return deferred(reason, 'park');
};

const ofRelay = ({ meaning, retryAfterSeconds }: Classification): RefusedOutcome => {
  const reason = meaning === 'reputation_refused' ? meaning : 'provider_unavailable';
  const isLimit = meaning === 'account_limit';
  return deferred(isLimit ? 'throttled' : reason, isLimit ? 'rate' : 'provider', retryAfterSeconds);
};

/** The codes alone: the text beside them may name a person. */
const codesOf = (text: string): string => {
  const { code, enhanced } = readCodes([], [text]);
  return [code, enhanced].filter((part) => part !== null).join(' ');
};

/** A refusal by policy (RFC 3463 §3.8) says nothing certain of the mailbox, whatever its words are. */
const POLICY_CODE = /\b5\.7\.\d/;

const BOUNCES: Partial<Record<AnswerMeaning, SaidBounce['type']>> = {
  recipient_unknown: 'hard',
  recipient_disabled: 'hard',
  mailbox_full: 'soft',
};

const ofRecipient = ({ meaning, retry, retryAfterSeconds }: Classification, text: string) => {
  const codes = codesOf(text);
  // A full mailbox may have room again, but 5xx asks not to repeat the message: a soft bounce.
  const isFull = meaning === 'mailbox_full' && codes.startsWith('5');
  if (retry === 'later' && !isFull)
    return deferred('recipient_deferred', 'send', retryAfterSeconds);
  const type = BOUNCES[meaning];
  if (type && codes !== '' && !POLICY_CODE.test(codes)) return bounced({ type, codes });
  if (type && codes === '') return rejected('recipient_refused');
  return rejected(meaning === 'message_too_large' ? 'message_refused' : 'blocked_by_policy');
};

const ofMessage = ({ retry, retryAfterSeconds }: Classification): RefusedOutcome =>
  retry === 'later'
    ? deferred('recipient_deferred', 'send', retryAfterSeconds)
    : rejected('message_refused');

/**
 * Returns what an answer means for the send and for its provider. Only an answer about the recipient or the message
 * ends the send; every other one defers it. The words say the period of a limit, and the codes of a bounce.
 */
export const outcomeOf = (found: Classification, said: Said): RefusedOutcome => {
  const scope: AnswerScope = found.scope;
  switch (scope) {
    case 'account':
    case 'sender':
      return ofAccount(found, said);
    case 'connection':
      return ofConnection(found);
    case 'relay':
      return ofRelay(found);
    case 'recipient':
      return ofRecipient(found, said.text);
    case 'message':
      return ofMessage(found);
  }
};
