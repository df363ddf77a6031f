import { readRetryAfter } from '../../../base/retry_after.ts';
import { endsSend, toClassification } from '../verdicts.ts';
import type { Classification, VerdictName } from '../verdicts.ts';
import { loadModel } from '../model/model.ts';
import type { Model } from '../model/model.ts';
import { weighModel } from '../model/second_opinion.ts';
import type { Evidence, Finding } from '../model/second_opinion.ts';
import { tokensOfAnswer } from '../model/tokens.ts';
import { ACCOUNT_RULES } from '../rules/account_rules.ts';
import { LEADING_RULES } from '../rules/leading_rules.ts';
import { phrases } from '../rules/phrases.ts';
import { matchRules } from '../rules/rule.ts';
import type { Reading, Rule } from '../rules/rule.ts';
import { SENDER_RULES } from '../rules/sender_rules.ts';
import { namesOwnCause } from '../smtp/other_cause.ts';
import { meaningOfApiCode, meaningOfCommonCode } from './api_codes.ts';
import { meaningOfCodeWords } from './code_words.ts';
import { API_RULES, FIELD_RULES } from './api_rules.ts';
import { FIRST_RULES } from './first_rules.ts';
import { readAnswer } from './read_answer.ts';
import type { AnswerReading, HttpAnswer } from './read_answer.ts';

/** Words of a request that is at fault. Other words beside a 400 may be of the account. */
const OF_REQUEST = phrases(`
  requests?|fields?|param*|propert*|argument*|attribute*|json|xml|body|schema|format*|syntax|pars*
  malformed|encod*|bytes?|char*|length|size|types?|strings?|arrays?|objects?|numbers?|values?|null
  empty|missing|mandatory|required?|requires|invalid*|valid|validation|unsupported|subject|templates?
  variables?|attach*|files?|headers?|html|text|content|messages?|e-?mails?|recipients?|address*|to|cc
  bcc|tags?|url|dates?|timestamps?|idempoten*|duplicate*
`);

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

const isRate = (status: number): boolean => status === 429 || status === 420;

/** Neither a field nor a status ends a send against words that speak of the account. */
const doubt = ({ words }: Reading, finding: Finding): Finding =>
  endsSend(finding.means) && namesOwnCause(words) ? { means: 'unsure', by: 'doubt' } : finding;

const byWords = (rules: readonly Rule[], reading: AnswerReading): VerdictName | null =>
  matchRules(rules, reading, reading.words);

const bySure = (read: AnswerReading): VerdictName | null =>
  byWords(FIRST_RULES, read) ??
  (read.status === 413 ? 'message_too_large' : null) ??
  meaningOfApiCode(read.provider, read.codes);

const byFew = (read: AnswerReading): VerdictName | null =>
  meaningOfCodeWords(read.codes) ?? byWords(LEADING_RULES, read) ?? byWords(API_RULES, read);

const byMany = (read: AnswerReading): VerdictName | null =>
  (isRate(read.status) ? 'account_limit' : null) ??
  byWords(SENDER_RULES, read) ??
  byWords(ACCOUNT_RULES, read) ??
  meaningOfCommonCode(read.codes);

const byFields = (read: AnswerReading): VerdictName | null => {
  const { status } = read;
  const isOfFields = status < 500 && ![401, 402, 403, 404, 405].includes(status);
  return isOfFields ? byWords(FIELD_RULES, read) : null;
};

const speaksOfOther = ({ words }: AnswerReading): boolean =>
  /\p{L}/u.test(words) && !OF_REQUEST.test(words);

/** The evidence, the strongest first. */
const weigh = (read: AnswerReading): Finding => {
  const sure = bySure(read);
  if (sure !== null) return { means: sure, by: 'host' };
  const few = byFew(read);
  if (few !== null) return { means: few, by: 'rule' };
  const many = byMany(read);
  if (many !== null) return { means: many, by: 'broad_rule' };
  const field = byFields(read);
  if (field !== null) return doubt(read, { means: field, by: 'phrase' });
  const byStatus = meaningOfStatus(read.status, read.provider);
  const isOther = byStatus === 'message_syntax' && speaksOfOther(read);
  return isOther ? { means: 'unsure', by: 'code' } : doubt(read, { means: byStatus, by: 'code' });
};

/** A status about the key or the rate: whatever is named beside it, it ends no send. */
const guard = (status: number, means: VerdictName): VerdictName => {
  if (!endsSend(means)) return means;
  if (status === 401) return 'auth_failed';
  return isRate(status) ? 'account_limit' : means;
};

/** Statuses that say whose fault it is: no words beside them end a send. */
const OF_SIDE = [401, 402, 403, 404, 405, 410, 420, 429];

/** What the model sees of an answer. */
const evidenceOf = (read: AnswerReading): Evidence => ({
  tokens: tokensOfAnswer(read),
  words: read.words,
  mayEnd: read.status < 500 && !OF_SIDE.includes(read.status),
});

/** Classifies an answer by the rules and a model, or by the rules alone. */
export const classifyAnswerWith = (model: Model | null, answer: HttpAnswer): Classification => {
  const read = readAnswer(answer);
  const { status } = answer;
  const { means, by } = weigh(read);
  const rules = { means: guard(status, means), by };
  const verdict =
    model === null
      ? rules.means
      : weighModel(model, evidenceOf(read), rules, (named) => guard(status, named));
  const classification = toClassification(verdict);
  const isLater = classification.retry === 'later';
  const seconds = isLater ? readRetryAfter(answer.headers?.['retry-after']) : null;
  return seconds === null ? classification : { ...classification, retryAfterSeconds: seconds };
};

/**
 * Classifies the answer of a provider's HTTPS API by what it concerns, what it means and whether
 * time helps.
 */
export const classifyHttpAnswer = (answer: HttpAnswer): Classification =>
  classifyAnswerWith(loadModel(), answer);
