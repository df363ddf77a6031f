import type { IncomingHttpHeaders } from 'node:http';
import { readRetryAfter } from '../../../base/retry_after.ts';
import { endsSend, toClassification } from '../verdicts.ts';
import type { Classification, VerdictName } from '../verdicts.ts';
import { ACCOUNT_RULES } from '../rules/account_rules.ts';
import { LEADING_RULES } from '../rules/leading_rules.ts';
import { matchRules } from '../rules/rule.ts';
import type { Reading } from '../rules/rule.ts';
import { SENDER_RULES } from '../rules/sender_rules.ts';
import { namesOwnCause } from '../smtp/other_cause.ts';
import { readWords } from '../text/words.ts';
import { meaningOfApiCode, meaningOfCommonCode } from './api_codes.ts';
import { meaningOfCodeWords } from './code_words.ts';
import { API_RULES, FIELD_RULES } from './api_rules.ts';
import { FIRST_RULES } from './first_rules.ts';
import { readBody } from './read_body.ts';
import type { BodyReading } from './read_body.ts';

export type HttpAnswer = {
  /** The vendor's name or slug, as `Postmark`. */
  provider: string;
  status: number;
  headers?: IncomingHttpHeaders;
  body: string;
  /** The error's name where a client library found one, as `TooManyRequestsException`. */
  exception?: string;
  from?: string;
  to?: string;
};

const toReading = ({ from, to, status }: HttpAnswer, { text }: BodyReading): Reading => ({
  code: null,
  enhanced: null,
  lines: [text],
  ...readWords(text, { from, to }),
  phase: 'any',
  class: status >= 500 ? 4 : 5,
  knowsFrom: from !== undefined && from !== '',
});

/** What a status means where the body says nothing. */
const meaningOfStatus = (status: number, provider: string): VerdictName => {
  if (status === 401) return 'auth_failed';
  if (status === 451) return provider.includes('sendgrid') ? 'auth_required' : 'content_refused';
  if (status === 403) return provider.includes('sendgrid') ? 'auth_paused' : 'auth_required';
  if (status === 402) return 'plan_used_up';
  if (status === 404 || status === 405 || status === 410) return 'relay_other';
  if (status === 413) return 'message_too_large';
  if (status === 429 || status === 420) return 'account_limit';
  if (status === 400 || status === 409 || status === 415 || status === 422) return 'message_syntax';
  return 'temporary_local';
};

/** Neither a field nor a status ends a send against words that speak of the account. */
const doubt = ({ words }: Reading, means: VerdictName): VerdictName =>
  endsSend(means) && namesOwnCause(words) ? 'unsure' : means;

const explain = (answer: HttpAnswer): VerdictName => {
  const provider = answer.provider.toLowerCase();
  const body = readBody(answer.body);
  const codes = [...(answer.exception ? [answer.exception.toLowerCase()] : []), ...body.codes];
  const reading = toReading(answer, body);
  const byWords = (rules: Parameters<typeof matchRules>[0]) =>
    matchRules(rules, reading, reading.words);
  const isServerError = answer.status >= 500;
  return (
    byWords(FIRST_RULES) ??
    (answer.status === 413 ? 'message_too_large' : null) ??
    meaningOfApiCode(provider, codes) ??
    meaningOfCodeWords(codes) ??
    byWords(LEADING_RULES) ??
    byWords(API_RULES) ??
    (answer.status === 429 || answer.status === 420 ? 'account_limit' : null) ??
    byWords(SENDER_RULES) ??
    byWords(ACCOUNT_RULES) ??
    meaningOfCommonCode(codes) ??
    doubt(
      reading,
      (isServerError || [401, 402, 403, 404, 405].includes(answer.status)
        ? null
        : byWords(FIELD_RULES)) ?? meaningOfStatus(answer.status, provider),
    )
  );
};

/** A status about the key or the rate: whatever is named beside it, it ends no send. */
const guard = (status: number, means: VerdictName): VerdictName => {
  if (!endsSend(means)) return means;
  if (status === 401) return 'auth_failed';
  return status === 429 || status === 420 ? 'account_limit' : means;
};

/**
 * Classifies the answer of a provider's HTTPS API by what it concerns, what it means and whether
 * time helps.
 */
export const classifyHttpAnswer = (answer: HttpAnswer): Classification => {
  const classification = toClassification(guard(answer.status, explain(answer)));
  const isLater = classification.retry === 'later';
  const seconds = isLater ? readRetryAfter(answer.headers?.['retry-after']) : null;
  return seconds === null ? classification : { ...classification, retryAfterSeconds: seconds };
};
