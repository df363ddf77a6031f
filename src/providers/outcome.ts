/** Why a provider did not take what it was given: the specification's failure classes. */
export type FailureReason =
  | 'connection_failed'
  | 'authentication_failed'
  | 'starttls_not_offered'
  | 'certificate_invalid'
  | 'sender_not_verified'
  | 'throttled'
  | 'recipient_refused'
  | 'message_refused';

/** What became of one attempt to hand a message to a provider. Never thrown. */
export type SendOutcome =
  | { kind: 'accepted'; providerMessageId: string | null }
  /** Definitely not taken; may be tried again. */
  | { kind: 'deferred'; reason: FailureReason }
  /** Definitely not taken, and never will be. */
  | { kind: 'rejected'; reason: FailureReason }
  /** Definitely not taken, because we did not begin: the deadline between commit and first byte had passed. */
  | { kind: 'not_started' }
  /** The message may have been taken. */
  | { kind: 'unknown' };

/** What a preflight found. */
export type PreflightOutcome = { kind: 'passed' } | { kind: 'failed'; reason: FailureReason };

/** What to do about each failure, for people. */
export const hints = {
  connection_failed:
    'Check host and port, and that the relay is reachable; ' +
    'where 25, 587 and 465 are blocked, try port 2525 with STARTTLS.',
  authentication_failed: 'Create the credentials again at the relay and update the record.',
  starttls_not_offered: 'The relay needs implicit TLS: set smtp_secure to "ssl" and use port 465.',
  certificate_invalid:
    "Use the host name that the relay's certificate was issued for; expired certificates are refused.",
  sender_not_verified:
    'Verify the domain of from_email at the provider and confirm its DKIM status.',
  throttled:
    'The provider limits the rate; sends are repeated with back-off. Raise the quota at the provider.',
  recipient_refused: 'The provider refused this recipient.',
  message_refused: 'The provider refused this message.',
} as const satisfies Record<FailureReason, string>;
