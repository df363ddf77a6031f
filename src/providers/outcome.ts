import type { ExplainedFailure } from './failures.ts';

/** Why a provider did not take what it was given. */
export const FAILURE_REASONS = [
  'connection_failed',
  'connection_refused_by_policy',
  'tls_required',
  'authentication_failed',
  'auth_not_offered',
  'starttls_not_offered',
  'certificate_invalid',
  'sender_not_verified',
  'invalid_key',
  'permission_denied',
  'region_mismatch',
  'account_blocked',
  'sandboxed',
  'throttled',
  'quota_exhausted',
  'provider_unavailable',
  'recipient_refused',
  'blocked_by_policy',
  'message_refused',
] as const satisfies ExplainedFailure[];
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What a refusal says of the mailbox: that there is none and never will be (hard) or that it is full, in its codes. */
export type SaidBounce = { type: 'hard' | 'soft'; codes: string };

/** What became of one attempt to hand a message to a provider. Never thrown. */
export type SendOutcome =
  | { kind: 'accepted'; providerMessageId: string | null }
  /**
   * Definitely not taken; may be tried again, and not before the provider's own hint where it gave one. `isOfOne`: it
   * was said of one recipient. Others may be taken, so it does not stop the provider alone, but several in a row do.
   */
  | { kind: 'deferred'; reason: FailureReason; retryAfterSeconds?: number; isOfOne?: true }
  /** Definitely not taken, and never will be; `bounce` where that is for the sake of the recipient's mailbox. */
  | { kind: 'rejected'; reason: FailureReason; bounce?: SaidBounce }
  /** Definitely not taken, because we did not begin: the deadline between commit and first byte had passed. */
  | { kind: 'not_started' }
  /** The message may have been taken. */
  | { kind: 'unknown' };

/** What a preflight found. */
export type PreflightOutcome = { kind: 'passed' } | { kind: 'failed'; reason: FailureReason };

/** Failures of the account, not of a message: a person has to mend them, and trying on would only lock it. */
const HOPELESS_REASONS: readonly string[] = [
  'authentication_failed',
  'auth_not_offered',
  'certificate_invalid',
  'invalid_key',
  'permission_denied',
  'account_blocked',
] satisfies FailureReason[];

/** Refusals that every message of this sender meets: they do not say that the provider is well. */
export const SENDER_REASONS: readonly string[] = [
  'sender_not_verified',
  'region_mismatch',
] satisfies FailureReason[];

/** A daily quota comes back within hours, not seconds; who wants to be left alone for that long has one. */
export const QUOTA_RETRY_SECONDS = 3_600;

/** Definitely not taken, for the account's or the connection's sake. */
export const deferred = (reason: FailureReason, retryAfterSeconds?: number): SendOutcome => {
  const isLong = reason === 'throttled' && (retryAfterSeconds ?? 0) >= QUOTA_RETRY_SECONDS;
  if (reason === 'quota_exhausted' || isLong) {
    const seconds = Math.max(QUOTA_RETRY_SECONDS, retryAfterSeconds ?? 0);
    return { kind: 'deferred', reason: 'quota_exhausted', retryAfterSeconds: seconds };
  }
  return retryAfterSeconds === undefined
    ? { kind: 'deferred', reason }
    : { kind: 'deferred', reason, retryAfterSeconds };
};

export const rejected = (reason: FailureReason): SendOutcome => ({ kind: 'rejected', reason });

/** Never taken, because of the mailbox: as good as a bounce that a webhook tells. */
export const bounced = (bounce: SaidBounce): SendOutcome => ({
  kind: 'rejected',
  reason: 'recipient_refused',
  bounce,
});

/** The account's failures that were said when the recipient was named: no proof that everybody is refused. */
export const saidOfOne = (outcome: SendOutcome): SendOutcome =>
  outcome.kind === 'deferred' && HOPELESS_REASONS.includes(outcome.reason)
    ? { ...outcome, isOfOne: true }
    : outcome;

/** Whether nobody's mail is taken until a person has mended something. */
export const isHopeless = (outcome: SendOutcome): boolean =>
  'reason' in outcome &&
  HOPELESS_REASONS.includes(outcome.reason) &&
  !(outcome.kind === 'deferred' && outcome.isOfOne);
