import { isAboutMailbox, isAboutRelaying, readSaidBounce } from './bounces.ts';
import { bounced, deferred, rejected, saidOfOne } from './outcome.ts';
import type { FailureReason, SaidBounce, SendOutcome } from './outcome.ts';
import { isAboutOther, readReason } from './reply_texts.ts';
import { isCertificateCode } from '../base/tls_errors.ts';

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

const isPermanent = ({ responseCode = 0 }: SmtpError): boolean =>
  responseCode >= 500 && responseCode !== 503;

/** Bad sender address or domain (RFC 3463), and what receivers say about a sender who proves nothing. */
const ABOUT_SENDER = /\b5\.(?:1\.[78]|7\.(?:2[367]|30|515))\b/;

/** Said by us, before anybody is connected to: no password goes over a public network in clear. */
export const TLS_REQUIRED = 'ETLSREQUIRED';

/** No mechanism of ours is offered: what stands for that in our own errors, and replies to an AUTH unasked for. */
export const NO_MECHANISM = 'ENOMECHANISM';
const NO_AUTH_REPLIES: readonly number[] = [500, 502, 503, 504, 538];

const isWithoutAuth = ({ code, responseCode = 0, message }: SmtpError): boolean =>
  code === 'EAUTH' && (NO_AUTH_REPLIES.includes(responseCode) || message.includes(NO_MECHANISM));

/** Security and policy (RFC 3463). */
const POLICY_CODE = /\b5\.7\.\d{1,3}\b/;

/** Also of relays that say so in words only. */
const isAboutPolicy = (text: string): boolean => POLICY_CODE.test(text) || isAboutRelaying(text);

/** What a reply is about: commands before the recipient's say nothing of them. */
const saidOf = ({ command, code }: SmtpError): 'recipient' | 'message' | null => {
  if (command === 'RCPT TO') return 'recipient';
  return command === 'DATA' || code === 'EMESSAGE' ? 'message' : null;
};

const CODE_DIGITS = 3;
/** Whether the lines of a reply differ in their code, which is the same in all of them (RFC 5321 §4.2.1). */
export const isContradictory = (reply = ''): boolean =>
  new Set(reply.split(/\r?\n/).map((line) => line.slice(0, CODE_DIGITS))).size > 1;

/** What comes before any message: who greets whom. */
const GREETINGS: readonly string[] = ['CONN', 'EHLO', 'HELO', 'LHLO'];

/** Replies to a command that is not understood, whoever says it. */
const SYNTAX_CODES: readonly number[] = [500, 501, 502, 503, 504];

/**
 * Whether a relay that is reached will not talk to this machine: 5xx in place of its greeting (RFC 5321 §3.1), or
 * said of how we introduced ourselves.
 */
const isTurnedAway = (error: SmtpError): boolean => {
  const { command = '', response = '', responseCode = 0 } = error;
  if (!GREETINGS.includes(command) || responseCode < 500) return false;
  return command === 'CONN' || !SYNTAX_CODES.includes(responseCode) || isAboutPolicy(response);
};

/** What a relay's own words say beyond its code; they are only believed where a reply was due. */
const readTexts = (error: SmtpError, from: string): FailureReason | null => {
  const { response = '', command } = error;
  if (command === 'CONN' || command === 'STARTTLS' || command?.startsWith('AUTH')) return null;
  const reason = readReason(response, saidOf(error) ?? 'account', from);
  if (reason === 'sender_not_verified' && isAboutOther(response, from)) return 'sandboxed';
  return reason ?? (ABOUT_SENDER.test(response) ? 'sender_not_verified' : null);
};

/**
 * The failure class of what went wrong. `from` tells a sandbox, which names the recipient, from a
 * sender that is not verified.
 */
export const classify = (error: SmtpError, from = ''): FailureReason => {
  if (error.code === TLS_REQUIRED) return 'tls_required';
  if (isCertificateCode(`${error.code ?? ''} ${error.originalCode ?? ''}`))
    return 'certificate_invalid';
  if (error.code === 'ETLS' && error.command === 'STARTTLS' && error.responseCode !== 454)
    return 'starttls_not_offered';
  if (error.code === 'EAUTH' || error.code === 'ENOAUTH') {
    if (isWithoutAuth(error)) return 'auth_not_offered';
    // A 4xx is about the relay's own state: the same password may pass in a minute.
    return (error.responseCode ?? 500) < 500 ? 'throttled' : 'authentication_failed';
  }
  const told = readTexts(error, from);
  // Of a mailbox that is closed or full: neither the account is suspended nor its quota used up.
  const isOfSender = told === 'sender_not_verified' || told === 'sandboxed';
  if (saidOf(error) !== null && !isOfSender && isAboutMailbox(error.response ?? ''))
    return 'recipient_refused';
  if (told !== null) return told;
  if (error.command === 'RCPT TO') {
    const isPolicy = isPermanent(error) && isAboutPolicy(error.response ?? '');
    return isPolicy ? 'blocked_by_policy' : 'recipient_refused';
  }
  if (isPermanent(error) && error.command === 'MAIL FROM') return 'sender_not_verified';
  if (error.responseCode && error.responseCode < 500) return 'throttled';
  if (isTurnedAway(error)) return 'connection_refused_by_policy';
  // Before a sender was named nothing was said of a message.
  if (error.responseCode && !GREETINGS.includes(error.command ?? '')) return 'message_refused';
  return 'connection_failed';
};

/** Failures that no later attempt of the same message can mend. */
const FINAL_REASONS: readonly FailureReason[] = [
  'recipient_refused',
  'blocked_by_policy',
  'message_refused',
  'sender_not_verified',
  'region_mismatch',
  'sandboxed',
];

/** Failures that may be a bounce, if their codes say so. */
const ABOUT_RECIPIENT: readonly FailureReason[] = ['recipient_refused', 'message_refused'];

/** What a reply that is a bounce says. */
const readBounce = (error: SmtpError, reason: FailureReason): SaidBounce | null => {
  const said = saidOf(error);
  if (said === null || !isPermanent(error) || !ABOUT_RECIPIENT.includes(reason)) return null;
  return readSaidBounce(error.response ?? '', said);
};

/**
 * What a failed hand-off means (reliability: the table of failures).
 * A reply to the message is definite. Silence or a lost connection after its first byte is not.
 */
export const toOutcome = (error: SmtpError, phase: Phase, from = ''): SendOutcome => {
  // Anything but 4xx and 5xx says neither that it was taken nor that it was not (RFC 5321 §4.2.1).
  const isReplyToMessage = error.code === 'EMESSAGE' && (error.responseCode ?? 0) >= 400;
  if (phase === 'body' && !isReplyToMessage) return { kind: 'unknown' };
  const reason = classify(error, from);
  const bounce = readBounce(error, reason);
  if (bounce !== null) return bounced(bounce);
  const isFinal = FINAL_REASONS.includes(reason) && isPermanent(error);
  if (isFinal) return rejected(reason);
  return saidOf(error) === 'recipient' ? saidOfOne(deferred(reason)) : deferred(reason);
};
