import type { FailureReason, SendOutcome } from './outcome.ts';

/** How far a hand-off had come when it failed. Decides whether the provider may have the message. */
export type Phase = 'before_body' | 'body';

/** What nodemailer tells of a failure; every member may be missing. */
export type SmtpError = Error & {
  code?: string;
  originalCode?: string;
  command?: string;
  responseCode?: number;
  response?: string;
};

const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_CERT|HOSTNAME_MISMATCH/;

const isPermanent = ({ responseCode = 0 }: SmtpError): boolean =>
  responseCode >= 500 && responseCode !== 503;

/** Amazon SES and SMTP2GO take MAIL FROM, and refuse an unverified sender only after the message. */
const isAboutSender = ({ command, response = '' }: SmtpError): boolean =>
  command === 'MAIL FROM' || /\bnot verified\b/i.test(response);

/** The failure class of what happened before the message began. */
export const classify = (error: SmtpError): FailureReason => {
  const codes = `${error.code ?? ''} ${error.originalCode ?? ''}`;
  if (CERTIFICATE_CODES.test(codes)) return 'certificate_invalid';
  if (error.code === 'ETLS' && error.command === 'STARTTLS' && error.responseCode !== 454)
    return 'starttls_not_offered';
  if (error.code === 'EAUTH' || error.code === 'ENOAUTH') {
    // A 4xx is about the relay's own state: the same password may pass in a minute.
    return (error.responseCode ?? 500) < 500 ? 'throttled' : 'authentication_failed';
  }
  if (error.command === 'RCPT TO') return 'recipient_refused';
  if (isPermanent(error) && isAboutSender(error)) return 'sender_not_verified';
  if (error.responseCode && error.responseCode < 500) return 'throttled';
  if (error.responseCode && error.command !== 'CONN') return 'message_refused';
  return 'connection_failed';
};

/** Failures that no later attempt of the same message can mend. */
const FINAL_REASONS: readonly FailureReason[] = [
  'recipient_refused',
  'message_refused',
  'sender_not_verified',
];

/**
 * What a failed hand-off means (reliability: the table of failures).
 * A reply to the message is definite. Silence or a lost connection after its first byte is not.
 */
export const toOutcome = (error: SmtpError, phase: Phase): SendOutcome => {
  const isReplyToMessage = error.code === 'EMESSAGE' && error.responseCode !== undefined;
  if (phase === 'body' && !isReplyToMessage) return { kind: 'unknown' };
  const reason = classify(error);
  const isFinal = FINAL_REASONS.includes(reason) && isPermanent(error);
  return { kind: isFinal ? 'rejected' : 'deferred', reason };
};
