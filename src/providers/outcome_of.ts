import type { AnswerMeaning, AnswerScope, Classification } from './answers/answers.ts';
import { readCodes } from '../base/bounce_type.ts';
import { bounced, deferred, rejected } from './outcome.ts';
import type { Deferral, FailureReason, RefusedOutcome, SaidBounce } from './outcome.ts';

/** A limit of hours or days: there is nothing to gain by trying more slowly. */
const LONG_LIMIT =
  /\b(?:dai?ly|day|hour(?:ly)?|month(?:ly)?|week(?:ly)?|24 ?h|quota|credits?|plan|allowance)\b/i;
/** A limit of what is taken at a time. */
const RATE_LIMIT =
  /\b(?:rate|second|minute|throttl\w{0,5}|too (?:fast|quickly|many (?:messages|requests))|slow down)\b/i;
/** A wait of this many seconds or more is no matter of the rate. */
export const QUOTA_RETRY_SECONDS = 3_600;

const limitOf = (text: string, seconds: number | undefined): [FailureReason, Deferral] => {
  const isLong = (seconds ?? 0) >= QUOTA_RETRY_SECONDS || LONG_LIMIT.test(text);
  return !isLong && RATE_LIMIT.test(text) ? ['throttled', 'rate'] : ['quota_exhausted', 'hold'];
};

type Kind = 'smtp' | 'https';

/** The failure class of an answer about the account or the sender, by its meaning. */
const ACCOUNT_REASONS: Partial<Record<AnswerMeaning, FailureReason>> = {
  account_suspended: 'account_blocked',
  auth_required_or_policy: 'permission_denied',
  connection_limit: 'connection_limit',
  relay_denied: 'permission_denied',
  reputation_refused: 'reputation_refused',
  dns_sender_problem: 'sender_domain_problem',
};

const accountReason = (
  { scope, meaning }: Classification,
  kind: Kind,
): FailureReason => {
  if (meaning === 'auth_failed') return kind === 'smtp' ? 'authentication_failed' : 'invalid_key';
  if (meaning === 'sender_not_allowed' && scope === 'account') return 'sandboxed';
  return ACCOUNT_REASONS[meaning] ?? (scope === 'sender' ? 'sender_not_verified' : 'account_blocked');
};

/** What may pass without a change of the record: a probe finds out. */
const PASSING: readonly AnswerMeaning[] = ['reputation_refused', 'dns_sender_problem'];

const ofAccount = (found: Classification, text: string, kind: Kind): RefusedOutcome => {
  const { meaning, retry, retryAfterSeconds } = found;
  if (meaning === 'account_limit')
    return deferred(...limitOf(text, retryAfterSeconds), retryAfterSeconds);
  if (meaning === 'connection_limit') return deferred('connection_limit', 'connection');
  const isPassing = retry === 'later' || PASSING.includes(meaning);
  return deferred(accountReason(found, kind), isPassing ? 'hold' : 'park', retryAfterSeconds);
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

const BOUNCES: Partial<Record<AnswerMeaning, SaidBounce['type']>> = {
  recipient_unknown: 'hard',
  recipient_disabled: 'hard',
  mailbox_full: 'soft',
};

const ofRecipient = ({ meaning, retry, retryAfterSeconds }: Classification, text: string) => {
  if (retry === 'later') return deferred('recipient_deferred', 'send', retryAfterSeconds);
  const type = BOUNCES[meaning];
  if (type) return bounced({ type, codes: codesOf(text) });
  return rejected(meaning === 'message_too_large' ? 'message_refused' : 'blocked_by_policy');
};

const ofMessage = ({ retry, retryAfterSeconds }: Classification): RefusedOutcome =>
  retry === 'later'
    ? deferred('recipient_deferred', 'send', retryAfterSeconds)
    : rejected('message_refused');

/**
 * Returns what an answer means for the send and for its provider. Only an answer about the recipient or the message ends
 * the send; every other one defers it. `text` is the answer, for the period of a limit and the codes of a bounce.
 */
export const outcomeOf = (found: Classification, text: string, kind: Kind): RefusedOutcome => {
  const scope: AnswerScope = found.scope;
  switch (scope) {
    case 'account':
    case 'sender':
      return ofAccount(found, text, kind);
    case 'connection':
      return ofConnection(found);
    case 'relay':
      return ofRelay(found);
    case 'recipient':
      return ofRecipient(found, text);
    case 'message':
      return ofMessage(found);
  }
};
