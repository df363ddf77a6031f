import { classifySmtpReply } from './answers/answers.ts';
import type { SmtpPhase } from './answers/answers.ts';
import { isCertificateCode } from '../base/tls_errors.ts';
import { afterText, deferred } from './outcome.ts';
import type { FailureReason, RefusedOutcome, SendOutcome } from './outcome.ts';
import { outcomeOf } from './outcome_of.ts';
import { toReply } from './reply.ts';
import type { Parties } from './reply.ts';

/** How far a hand-off had come when it failed. Decides whether the provider may have the message. */
export type Phase = 'before_body' | 'body';

/** What nodemailer reports of a failure; every member may be missing. */
export type SmtpError = Error & {
  code?: string;
  originalCode?: string;
  command?: string;
  responseCode?: number;
  response?: string;
};

/** Reported by Trunkline before it connects: no password crosses a public network in clear text. */
export const TLS_REQUIRED = 'ETLSREQUIRED';

/** Reported before a connection too: without a login only relays of the operator's own networks are used. */
export const LOGIN_REQUIRED = 'ELOGINREQUIRED';

/** No known mechanism is offered: marks that in our own errors, beside replies to an AUTH without an offer. */
export const NO_MECHANISM = 'ENOMECHANISM';
const NO_AUTH_REPLIES: readonly number[] = [500, 502, 503, 504, 538];

const isWithoutAuth = ({ code, responseCode = 0, message }: SmtpError): boolean =>
  code === 'EAUTH' && (NO_AUTH_REPLIES.includes(responseCode) || message.includes(NO_MECHANISM));

const CODE_DIGITS = 3;
/** Whether the lines of a reply differ in their code, which is the same in all of them (RFC 5321 §4.2.1). */
export const isContradictory = (reply = ''): boolean =>
  new Set(reply.split(/\r?\n/).map((line) => line.slice(0, CODE_DIGITS))).size > 1;

const PHASES: Record<string, SmtpPhase> = {
  CONN: 'connect',
  EHLO: 'ehlo',
  HELO: 'ehlo',
  LHLO: 'ehlo',
  STARTTLS: 'ehlo',
  'MAIL FROM': 'mail',
  'RCPT TO': 'rcpt',
  DATA: 'data',
};

const phaseOf = ({ command = '', code }: SmtpError): SmtpPhase => {
  if (code === 'EMESSAGE') return 'body';
  if (command.startsWith('AUTH')) return 'auth';
  return PHASES[command] ?? 'any';
};

/** Failures without a reply that means anything: Trunkline or TLS found them. */
const withoutReply = (error: SmtpError): SendOutcome | null => {
  if (error.code === TLS_REQUIRED) return deferred('tls_required', 'park');
  if (error.code === LOGIN_REQUIRED) return deferred('login_required', 'park');
  if (isCertificateCode(`${error.code ?? ''} ${error.originalCode ?? ''}`))
    return deferred('certificate_invalid', 'park');
  if (error.code === 'ETLS' && error.command === 'STARTTLS' && error.responseCode !== 454)
    return deferred('starttls_not_offered', 'provider');
  if (isWithoutAuth(error) || error.code === 'ENOAUTH') return deferred('auth_not_offered', 'park');
  return error.responseCode === undefined ? deferred('connection_failed', 'provider') : null;
};

const REPLY_MIN = 400;
const REFUSED_MIN = 500;

/** Phases in which nothing is known of who asks: what is said then is said of this machine. */
const BEFORE_LOGIN: readonly SmtpPhase[] = ['connect', 'ehlo'];
/** Phases in which a relay may pass on what another host says of one recipient. */
const OF_ONE: readonly SmtpPhase[] = ['rcpt', 'data', 'body'];
const NOT_IMPLEMENTED: readonly number[] = [502, 504];

/** The outcome as far as it may be believed in its phase. */
const believe = (outcome: RefusedOutcome, phase: SmtpPhase, code: number): RefusedOutcome => {
  if (outcome.kind !== 'deferred')
    return phase === 'body' ? { ...outcome, isOfText: true } : outcome;
  if (phase === 'body') return afterText({ ...outcome, isOfOne: true });
  if (OF_ONE.includes(phase)) return { ...outcome, isOfOne: true };
  const isGeneral = outcome.waits === 'park' || outcome.waits === 'hold';
  if (!BEFORE_LOGIN.includes(phase) || outcome.reason === 'tls_required' || code < REFUSED_MIN)
    return outcome;
  if (phase === 'ehlo' && NOT_IMPLEMENTED.includes(code))
    return { ...outcome, reason: 'connection_failed', waits: 'provider' };
  const waits = isGeneral ? 'hold' : outcome.waits;
  return { ...outcome, reason: 'connection_refused_by_policy', waits };
};

/**
 * Returns what a failed hand-off means (reliability: the table of failures). A reply to the message is definite.
 * Silence or a lost connection after its first byte is not.
 */
export const toOutcome = (error: SmtpError, phase: Phase, parties: Parties): SendOutcome => {
  // Anything but 4xx and 5xx says neither that it was taken nor that it was not (RFC 5321 §4.2.1).
  const isReplyToMessage = error.code === 'EMESSAGE' && (error.responseCode ?? 0) >= REPLY_MIN;
  if (phase === 'body' && !isReplyToMessage) return { kind: 'unknown' };
  const found = withoutReply(error);
  if (found) return found;
  const reply = error.response ?? String(error.responseCode);
  const { from, to } = parties;
  const said = phaseOf(error);
  const outcome = outcomeOf(classifySmtpReply({ reply, phase: said, from, to }), { text: reply });
  const shown = toReply(reply, parties);
  return { ...believe(outcome, said, error.responseCode ?? 0), reply: shown };
};

/** Returns the failure class of a connection that could not be opened. */
export const classify = (error: SmtpError, parties: Parties): FailureReason => {
  const outcome = toOutcome(error, 'before_body', parties);
  return 'reason' in outcome ? outcome.reason : 'connection_failed';
};
