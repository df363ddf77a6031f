/** What an answer of a provider concerns. Only `recipient` and `message` may end a send. */
export type AnswerScope = 'account' | 'sender' | 'connection' | 'relay' | 'recipient' | 'message';

export type AnswerMeaning =
  | 'account_limit'
  | 'account_suspended'
  | 'auth_failed'
  | 'auth_required_or_policy'
  | 'sender_not_allowed'
  | 'dns_sender_problem'
  | 'connection_limit'
  | 'tls_required'
  | 'temporary_local'
  | 'reputation_refused'
  | 'greylisted'
  | 'recipient_unknown'
  | 'recipient_disabled'
  | 'recipient_policy'
  | 'mailbox_full'
  | 'temporary_recipient'
  | 'relay_denied'
  | 'content_refused'
  | 'message_too_large'
  | 'line_or_syntax'
  | 'other';

/**
 * `later`: time helps. `after_fix`: a person has to change something. `never`: nothing helps this
 * send.
 */
export type AnswerRetry = 'later' | 'never' | 'after_fix';

export type Classification = {
  scope: AnswerScope;
  meaning: AnswerMeaning;
  retry: AnswerRetry;
  retryAfterSeconds?: number;
};

/** The command that was answered. `any`: not known. */
export type SmtpPhase = 'connect' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'any';

type Verdict = readonly [AnswerScope, AnswerMeaning, AnswerRetry];

/** Everything that an answer can mean, by the name that the rules use. */
export const VERDICTS = {
  account_limit: ['account', 'account_limit', 'later'],
  plan_used_up: ['account', 'account_limit', 'after_fix'],
  account_suspended: ['account', 'account_suspended', 'after_fix'],
  account_suspended_for_good: ['account', 'account_suspended', 'never'],
  account_paused: ['account', 'account_suspended', 'later'],
  account_other_for_good: ['account', 'other', 'never'],
  account_other: ['account', 'other', 'after_fix'],
  auth_failed: ['account', 'auth_failed', 'after_fix'],
  auth_required: ['account', 'auth_required_or_policy', 'after_fix'],
  auth_paused: ['account', 'auth_required_or_policy', 'later'],
  login_limit: ['account', 'connection_limit', 'later'],
  relay_denied: ['account', 'relay_denied', 'after_fix'],
  account_sender: ['account', 'sender_not_allowed', 'after_fix'],

  sender_limit: ['sender', 'account_limit', 'later'],
  sender_suspended: ['sender', 'account_suspended', 'after_fix'],
  sender_login: ['sender', 'auth_required_or_policy', 'after_fix'],
  sender_not_allowed: ['sender', 'sender_not_allowed', 'after_fix'],
  sender_dns: ['sender', 'dns_sender_problem', 'after_fix'],
  sender_spoofed: ['sender', 'recipient_policy', 'never'],
  sender_reputation: ['sender', 'reputation_refused', 'after_fix'],
  sender_syntax: ['sender', 'line_or_syntax', 'after_fix'],

  connection_limit: ['connection', 'connection_limit', 'later'],
  helo_refused: ['connection', 'connection_limit', 'after_fix'],
  protocol: ['connection', 'line_or_syntax', 'after_fix'],
  protocol_state: ['connection', 'line_or_syntax', 'later'],
  tls_required: ['connection', 'tls_required', 'after_fix'],
  greylisted_connection: ['connection', 'greylisted', 'later'],

  temporary_local: ['relay', 'temporary_local', 'later'],
  relay_limit: ['relay', 'account_limit', 'later'],
  relay_policy: ['relay', 'auth_required_or_policy', 'after_fix'],
  relay_reputation: ['relay', 'reputation_refused', 'after_fix'],
  relay_reputation_later: ['relay', 'reputation_refused', 'later'],
  greylisted_relay: ['relay', 'greylisted', 'later'],
  relay_other: ['relay', 'other', 'after_fix'],
  unsure: ['relay', 'other', 'later'],

  recipient_unknown: ['recipient', 'recipient_unknown', 'never'],
  recipient_disabled: ['recipient', 'recipient_disabled', 'never'],
  recipient_policy: ['recipient', 'recipient_policy', 'never'],
  mailbox_full_for_good: ['recipient', 'mailbox_full', 'never'],
  mailbox_full: ['recipient', 'mailbox_full', 'later'],
  temporary_recipient: ['recipient', 'temporary_recipient', 'later'],
  greylisted_recipient: ['recipient', 'greylisted', 'later'],
  too_large_for_recipient: ['recipient', 'message_too_large', 'never'],
  not_hosted_here: ['recipient', 'relay_denied', 'never'],

  content_refused: ['message', 'content_refused', 'never'],
  content_after_fix: ['message', 'content_refused', 'after_fix'],
  message_reputation: ['message', 'reputation_refused', 'after_fix'],
  content_later: ['message', 'content_refused', 'later'],
  message_too_large: ['message', 'message_too_large', 'never'],
  message_syntax: ['message', 'line_or_syntax', 'never'],
  message_other: ['message', 'other', 'never'],
  message_later: ['message', 'other', 'later'],
  greylisted_message: ['message', 'greylisted', 'later'],
} as const satisfies Record<string, Verdict>;

export type VerdictName = keyof typeof VERDICTS;

/** Whether an answer concerns the side that sends: the account, its sender, the connection or the relay. */
export const concernsSide = (name: VerdictName): boolean => {
  const [scope] = VERDICTS[name];
  return scope !== 'recipient' && scope !== 'message';
};

/** Whether nothing helps a send that is answered so: it ends, and the next is sent. */
export const endsSend = (name: VerdictName): boolean => {
  return !concernsSide(name) && VERDICTS[name][2] !== 'later';
};

/** Whether a person who is answered so receives no more email. */
export const suppresses = (name: VerdictName): boolean => {
  const meaning: AnswerMeaning = VERDICTS[name][1];
  return meaning === 'recipient_unknown' || meaning === 'recipient_disabled';
};

export const toClassification = (name: VerdictName): Classification => {
  const [scope, meaning, retry] = VERDICTS[name];
  return { scope, meaning, retry };
};
