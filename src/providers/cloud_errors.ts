import { BAD_ADDRESS } from './bounces.ts';
import { classifyStatus, retryAfterOf } from './http_answers.ts';
import type { HttpsAnswer } from '../base/https.ts';
import { bounced, deferred, rejected } from './outcome.ts';
import type { FailureReason, SendOutcome } from './outcome.ts';
import { isAboutOther, readReason } from './reply_texts.ts';

/** What the cloud's client makes of an answer that is an error. */
export type CloudError = { name: string; message: string };

/** Errors by their names; the rest is told apart by its words. */
const REASONS: Record<string, FailureReason> = {
  TooManyRequestsException: 'throttled',
  ThrottlingException: 'throttled',
  Throttling: 'throttled',
  LimitExceededException: 'throttled',
  UnrecognizedClientException: 'invalid_key',
  InvalidClientTokenId: 'invalid_key',
  InvalidSignatureException: 'invalid_key',
  SignatureDoesNotMatch: 'invalid_key',
  AccessDeniedException: 'permission_denied',
  AccountSuspendedException: 'account_blocked',
  SendingPausedException: 'account_blocked',
  MailFromDomainNotVerifiedException: 'sender_not_verified',
  InternalServiceErrorException: 'provider_unavailable',
  ServiceUnavailableException: 'provider_unavailable',
  MessageRejected: 'message_refused',
  BadRequestException: 'message_refused',
  NotFoundException: 'message_refused',
};

/** Of this message, or of whom it is from: no later attempt of the same message can mend them. */
const FINAL_REASONS: readonly FailureReason[] = [
  'sender_not_verified',
  'sandboxed',
  'message_refused',
  'region_mismatch',
];

/** A signature that is too old or from the future: the clock that is wrong is ours. */
const ABOUT_CLOCK = /signature (?:expired|not yet current)/i;

/** What is said of an address that is none. The sender's was proved when the record was saved. */
const BAD_REQUEST = 'BadRequestException';
const ABOUT_ADDRESS =
  /missing final '@domain'|^(?:local address|domain) (?:contains|starts|ends)\b|\billegal address\b/i;

const isNoAddress = ({ name, message }: CloudError, from: string): boolean =>
  name === BAD_REQUEST && ABOUT_ADDRESS.test(message) && !(from !== '' && message.includes(from));

const reasonOf = ({ name, message }: CloudError, from: string): FailureReason | null => {
  if (ABOUT_CLOCK.test(message)) return 'provider_unavailable';
  const told = readReason(message);
  if (told === 'sender_not_verified' && isAboutOther(message, from)) return 'sandboxed';
  return told ?? (Object.hasOwn(REASONS, name) ? (REASONS[name] ?? null) : null);
};

/** What an error of Amazon SES means for a message. Without a name that we know, the status has to do. */
export const classify = (
  error: CloudError,
  { status, headers }: Pick<HttpsAnswer, 'status' | 'headers'>,
  from: string,
): SendOutcome => {
  if (isNoAddress(error, from)) return bounced(BAD_ADDRESS);
  const reason = reasonOf(error, from);
  if (reason === null) return classifyStatus({ status, headers });
  return FINAL_REASONS.includes(reason)
    ? rejected(reason)
    : deferred(reason, retryAfterOf(headers));
};
