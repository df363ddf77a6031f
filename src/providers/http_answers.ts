import type { IncomingHttpHeaders } from 'node:http';
import type { HttpsAnswer, HttpsFailure } from '../base/https.ts';
import { deferred, rejected } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';

const RETRY_AFTER_SECONDS_MAX = 86_400;

/** What the provider asks for in Retry-After, in whole seconds; dates and nonsense are left aside. */
export const retryAfterOf = (headers: IncomingHttpHeaders): number | undefined => {
  const text = headers['retry-after'] ?? '';
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), RETRY_AFTER_SECONDS_MAX) : undefined;
};

/** A host whose name nobody knows cannot be connected to; where its name means something, the caller says so. */
export const reasonOf = (failure: HttpsFailure) =>
  failure === 'unresolvable' ? 'connection_failed' : failure;

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

/** What a status means where the body does not say more (reliability: the table of failures). */
export const classifyStatus = ({ status, headers }: Omit<HttpsAnswer, 'body'>): SendOutcome => {
  const seconds = retryAfterOf(headers);
  if (status === 401) return deferred('invalid_key');
  if (status === 403) return deferred('permission_denied');
  if (status === 402) return deferred('quota_exhausted', seconds);
  if (status === 408 || status === 429) return deferred('throttled', seconds);
  // A redirect is not followed, and 503 is said by who has not begun.
  if ((status >= 300 && status < 400) || status === 503)
    return deferred('provider_unavailable', seconds);
  if (status >= 400 && status < 500) return rejected('message_refused');
  return { kind: 'unknown' };
};
