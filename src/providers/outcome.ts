import type { ExplainedFailure } from './failures.ts';

/** Why a provider did not take what it was given. */
export const FAILURE_REASONS = [
  'connection_failed',
  'connection_limit',
  'connection_refused_by_policy',
  'tls_required',
  'login_required',
  'authentication_failed',
  'auth_not_offered',
  'starttls_not_offered',
  'certificate_invalid',
  'sender_not_verified',
  'sender_domain_problem',
  'invalid_key',
  'permission_denied',
  'region_mismatch',
  'account_blocked',
  'account_refused',
  'sandboxed',
  'throttled',
  'quota_exhausted',
  'provider_unavailable',
  'reputation_refused',
  'identical_refusals',
  'asserted_refused',
  'recipient_deferred',
  'recipient_refused',
  'blocked_by_policy',
  'message_refused',
] as const satisfies ExplainedFailure[];
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The reasons for which a send ends as rejected. */
export const REJECTION_REASONS = [
  'recipient_refused',
  'blocked_by_policy',
  'message_refused',
] as const satisfies readonly FailureReason[];

/** A refusal about the mailbox: it does not exist or is disabled (hard), or it is full (soft), in its codes. */
export type SaidBounce = { type: 'hard' | 'soft'; codes: string };

/** What the provider answered, fit to be shown: bounded, without secrets and without other addresses. */
export type Reply = {
  /** The SMTP code, or the HTTP status. */
  code: number | null;
  /** The enhanced status code (RFC 3463). */
  enhanced: string | null;
  text: string | null;
  /** The id under which the relay queued the message. */
  queueId: string | null;
};

/**
 * What a temporary refusal concerns, and so what waits for it:
 * - `send`: this send alone is tried again later
 * - `connection`: this connection is over; a new one carries the send at once
 * - `provider`: a failure of the provider, which its circuit breaker counts
 * - `rate`: the provider takes less at a time; its rate is lowered
 * - `hold`: nothing of this account is taken for a time; the queue waits, and one send probes it
 * - `park`: nothing is taken until a person changes something
 */
export const DEFERRALS = ['send', 'connection', 'provider', 'rate', 'hold', 'park'] as const;
export type Deferral = (typeof DEFERRALS)[number];

/** What became of one attempt to hand a message to a provider. Never thrown. */
export type SendOutcome =
  | { kind: 'accepted'; providerMessageId: string | null; reply?: Reply }
  /** Definitely not taken; may be tried again, and not before the provider's own hint where it gave one. */
  | {
      kind: 'deferred';
      reason: FailureReason;
      waits: Deferral;
      /** Said of one recipient, maybe by another host: one such answer alone may say nothing of the account. */
      isOfOne?: true;
      /** Said after the text of the message, which may be the cause. */
      isOfText?: true;
      retryAfterSeconds?: number;
      reply?: Reply;
    }
  /** Definitely not taken, and never will be; `bounce` where that is for the sake of the recipient's mailbox. */
  | {
      kind: 'rejected';
      reason: FailureReason;
      bounce?: SaidBounce;
      /** Said after the text, of a recipient that the relay had accepted before. */
      isOfText?: true;
      reply?: Reply;
    }
  /** Definitely not taken: the deadline between commit and first byte had passed. */
  | { kind: 'not_started' }
  /** The message may have been taken. */
  | { kind: 'unknown'; reply?: Reply };

/** A message that was definitely not taken, because of an answer. */
export type RefusedOutcome = Extract<SendOutcome, { kind: 'deferred' | 'rejected' }>;

/** What a preflight found. */
export type PreflightOutcome = { kind: 'passed' } | { kind: 'failed'; reason: FailureReason };

/** Definitely not taken, and may be tried again. */
export const deferred = (
  reason: FailureReason,
  waits: Deferral,
  retryAfterSeconds?: number,
): RefusedOutcome => ({
  kind: 'deferred',
  reason,
  waits,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Marks an answer as said after the text of the message, which may be its cause. Only a deferral can be about that. */
export const afterText = (outcome: RefusedOutcome): RefusedOutcome =>
  outcome.kind === 'deferred' ? { ...outcome, isOfText: true } : outcome;

export const rejected = (reason: FailureReason): RefusedOutcome => ({ kind: 'rejected', reason });

/** Never taken, because of the mailbox: equal to a bounce that a webhook reports. */
export const bounced = (bounce: SaidBounce): RefusedOutcome => ({
  kind: 'rejected',
  reason: 'recipient_refused',
  bounce,
});

/** Whether nothing of this provider is taken until a person changes something. */
export const isParking = (outcome: SendOutcome): boolean =>
  outcome.kind === 'deferred' && outcome.waits === 'park' && outcome.isOfOne !== true;

/** What is said of an address that is none. */
export const BAD_ADDRESS: SaidBounce = { type: 'hard', codes: '5.1.3' };
