import type { HttpsAnswer, HttpsFailure } from '../base/https.ts';
import { readRetryAfter } from '../base/retry_after.ts';
import { classifyHttpAnswer } from './answers/answers.ts';
import type { AnswerMeaning } from './answers/answers.ts';
import { afterText } from './outcome.ts';
import type { Deferral, RefusedOutcome, SendOutcome } from './outcome.ts';
import { outcomeOf } from './outcome_of.ts';
import { toReply } from './reply.ts';
import type { Parties } from './reply.ts';

/** A host whose name nobody knows cannot be connected to; where its name means something, the caller says so. */
export const reasonOf = (failure: HttpsFailure) =>
  failure === 'unresolvable' ? 'connection_failed' : failure;

/** A certificate that is not valid needs a person; any other failure may pass. */
export const waitsOf = (failure: HttpsFailure): Deferral =>
  failure === 'certificate_invalid' ? 'park' : 'provider';

/** The JSON of an answer, or undefined where there is none to be read. */
export const readJson = ({ headers, body }: Pick<HttpsAnswer, 'headers' | 'body'>): unknown => {
  if (
    body === null ||
    !/^application\/(?:[\w.-]+\+)?(?:x-amz-)?json\b/i.test(headers['content-type'] ?? '')
  )
    return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** Answered by a server that may have worked on the request (reliability: the table of failures). */
const UNTYPED = 500;
const NOT_BEGUN = 503;
/** Meanings of a server's error that say nothing of what became of the message. */
const VAGUE: readonly AnswerMeaning[] = ['temporary_local', 'other'];

const withoutBounce = (outcome: RefusedOutcome): RefusedOutcome => {
  if (outcome.kind !== 'rejected') return outcome;
  const { bounce: _, ...refused } = outcome;
  return refused;
};

type Parts = Parties & {
  provider: string;
  /** The name of the error, where a client library found one. */
  exception?: string;
  /** Whether the provider documents that it refuses the message with this error. */
  isTyped?: boolean;
};

const textOf = ({ body }: Pick<HttpsAnswer, 'body'>): string =>
  body === null ? '' : Buffer.from(body).toString('utf8');

/**
 * Returns what an answer that is no acceptance means for the message. A redirect is not followed. A server error that
 * names no cause leaves it open whether the message was taken.
 */
export const refusalOf = (answer: HttpsAnswer, parts: Parts): SendOutcome => {
  const { status, headers } = answer;
  const body = textOf(answer);
  const { provider, from, to, exception, isTyped = false } = parts;
  const found = classifyHttpAnswer({
    provider,
    status,
    headers,
    body,
    from,
    to,
    ...(exception === undefined ? {} : { exception }),
  });
  const reply = { ...toReply(body, parts), code: status };
  const isVague = !isTyped && VAGUE.includes(found.meaning);
  if (status >= UNTYPED && status !== NOT_BEGUN && isVague) return { kind: 'unknown', reply };
  const hint = readRetryAfter(headers['retry-after']);
  const classified = hint === null ? found : { ...found, retryAfterSeconds: hint };
  // Only a receiver's code says that a mailbox does not exist: an API may mean a field of the request.
  const outcome = withoutBounce(outcomeOf(classified, { text: body, status }));
  // A request carries the text: any answer to it may be about that.
  return { ...afterText(outcome), reply };
};
