import { NEVER_ACCEPTS } from '../../../base/reply_codes.ts';
import { HOST_RULES } from '../hosts/hosts.ts';
import { WHOLE_REPLIES } from '../hosts/whole_replies.ts';
import { LANGUAGE_RULES, PASSING_RULES } from '../languages/language_rules.ts';
import { meaningOfBasic } from '../rules/basic_codes.ts';
import { meaningOfEnhanced } from '../rules/enhanced_codes.ts';
import { GENERIC_RULES, WEAK_RULES } from '../rules/generic_rules.ts';
import { LEADING_RULES } from '../rules/leading_rules.ts';
import { loadModel } from '../model/model.ts';
import type { Model } from '../model/model.ts';
import { weighModel } from '../model/second_opinion.ts';
import type { Evidence, Finding } from '../model/second_opinion.ts';
import { tokensOfReply } from '../model/tokens.ts';
import { findRule, matchRules } from '../rules/rule.ts';
import type { Reading } from '../rules/rule.ts';
import { isBroad, LATER_WORD_RULES, WORD_RULES } from '../rules/word_rules.ts';
import { endsSend, toClassification, VERDICTS } from '../verdicts.ts';
import type { AnswerMeaning, Classification, SmtpPhase, VerdictName } from '../verdicts.ts';
import { namesOtherCause, namesOwnCause } from './other_cause.ts';
import { readReply } from './read_reply.ts';
import type { SmtpAnswer } from './read_reply.ts';
import { readRetryAfter } from './retry_after.ts';

/** What servers write before the part that matters. */
const PREFIX = new RegExp(
  [
    '(?:@(?:to|addr)\\s?:? ?)?recipient address rejected:',
    'requested (?:mail )?action (?:not taken|aborted)' +
      '(?:: mailbox (?:unavailable|name not allowed))?:?',
    'transaction failed:?|service unavailable;|delivery error: dd',
    // Exim repeats at DATA what it answered every RCPT.
    'all rcpt commands were rejected with this error:|valid rcpt command must precede data',
    '\\(in reply to [a-z ]{1,24}command\\)\\)?|for explanation visit @url|^(?:sorry|error)[,:]',
  ].join('|'),
  'g',
);

const coreOf = (words: string): string => words.replaceAll(PREFIX, ' ').trim();

/** What servers write by habit before they say why: `Client host rejected: …`. */
const HABIT = /^.{0,160}?\b(?:rejected|denied|refused) ?[:-] /;

/** How far apart two words of another language may stand that belong together. */
const SENTENCE_CHARS_MAX = 600;

/**
 * The evidence, the strongest first: a host's own codes, words, phrases that say little, codes
 * alone.
 */
const weigh = (reading: Reading): Finding => {
  const host =
    matchRules(WHOLE_REPLIES, reading, reading.words) ??
    matchRules(HOST_RULES, reading, reading.signs);
  if (host !== null) return { means: host, by: 'host' };
  const { means, by } = byWords(reading) ?? byCodes(reading);
  const isOfWords = by === 'rule' || by === 'broad_rule';
  const guarded = guard(reading, isOfWords ? means : doubt(reading, means));
  return { means: soften(reading, guarded), by: guarded === means ? by : 'doubt' };
};

const byWords = (reading: Reading): Finding | null => {
  const leading = reading.words.replace(HABIT, '');
  const core = coreOf(reading.words);
  const first =
    matchRules(LANGUAGE_RULES, reading, reading.words.slice(0, SENTENCE_CHARS_MAX)) ??
    matchRules(LEADING_RULES, reading, leading);
  if (first !== null) return { means: first, by: 'rule' };
  // The same text fits none of them again.
  const found = findRule(core === leading ? LATER_WORD_RULES : WORD_RULES, reading, core);
  if (found === null) return null;
  // Words of a limit are explicit, whatever stands beside them.
  const isSure = !isBroad(found.rule) || meaningIs(found.means, 'account_limit');
  return { means: found.means, by: isSure ? 'rule' : 'broad_rule' };
};

const byCodes = (reading: Reading): Finding => {
  const generic = matchRules(GENERIC_RULES, reading, reading.words);
  if (generic !== null) return { means: generic, by: 'phrase' };
  const means =
    matchRules(PASSING_RULES, reading, reading.words) ??
    meaningOfEnhanced(reading.enhanced) ??
    matchRules(WEAK_RULES, reading, reading.words) ??
    meaningOfBasic(reading.code, reading.phase);
  if (endsSend(means) && NEVER_ACCEPTS.includes(reading.code ?? 0)) return { means, by: 'rule' };
  // A code of a recipient or a message is as sure as a phrase, and words of habit say no more.
  const isSure = endsSend(means) || !/\p{L}/u.test(coreOf(reading.words));
  return { means, by: isSure ? 'phrase' : 'code' };
};

/** No phrase ends a send against words that speak of the account that sends. */
const guard = ({ words }: Reading, means: VerdictName): VerdictName =>
  endsSend(means) && namesOwnCause(words) ? 'unsure' : means;

/** A code or a phrase that says little ends no send against words of another cause. */
const doubt = ({ words, enhanced }: Reading, means: VerdictName): VerdictName => {
  return endsSend(means) && namesOtherCause(coreOf(words), enhanced) ? 'unsure' : means;
};

/** What a verdict that ends a send becomes in a 4xx, unless a host is known to mean it. */
const IN_A_4XX: Partial<Record<VerdictName, VerdictName>> = {
  recipient_unknown: 'temporary_recipient',
  recipient_disabled: 'temporary_recipient',
  recipient_policy: 'temporary_recipient',
  not_hosted_here: 'temporary_recipient',
  too_large_for_recipient: 'temporary_recipient',
  mailbox_full_for_good: 'mailbox_full',
  content_refused: 'content_later',
  content_after_fix: 'content_later',
  message_reputation: 'content_later',
  message_too_large: 'message_later',
  message_syntax: 'message_later',
  message_other: 'message_later',
};

const soften = ({ class: replyClass }: Reading, means: VerdictName): VerdictName =>
  replyClass === 4 ? (IN_A_4XX[means] ?? means) : means;

const meaningIs = (means: VerdictName, meaning: AnswerMeaning): boolean =>
  VERDICTS[means][1] === meaning;

/** Nothing is said of a recipient, nor of the message but its size, before a recipient is named. */
const settle = (means: VerdictName, { phase, class: replyClass }: Reading): VerdictName => {
  const [scope] = VERDICTS[means];
  if (means === 'greylisted_recipient' && (phase === 'body' || phase === 'data'))
    return 'greylisted_message';
  const passes = replyClass === 4;
  // No sender has been named yet either.
  if (means === 'sender_reputation' && (phase === 'connect' || phase === 'ehlo'))
    return passes ? 'relay_reputation_later' : 'relay_reputation';
  if (scope !== 'recipient' && scope !== 'message') return means;
  if (phase === 'auth') return passes ? 'temporary_local' : 'auth_failed';
  if (phase === 'connect' || phase === 'ehlo')
    return passes ? 'relay_reputation_later' : 'relay_reputation';
  // No text has been sent yet that could be refused.
  if (phase === 'rcpt' && meaningIs(means, 'content_refused'))
    return passes ? 'relay_reputation_later' : 'relay_reputation';
  if (phase !== 'mail') return means;
  if (means === 'recipient_unknown') return 'sender_not_allowed';
  if (means === 'recipient_disabled') return 'sender_suspended';
  if (means === 'recipient_policy') return 'sender_reputation';
  if (means === 'mailbox_full') return 'sender_limit';
  if (means === 'temporary_recipient') return 'temporary_local';
  return meaningIs(means, 'content_refused') ? 'sender_reputation' : means;
};

/** Commands whose refusal may end a send: those that name the recipient and bring the message. */
const ENDING: readonly SmtpPhase[] = ['rcpt', 'data', 'body'];

/** What the model sees of a reply. Codes below 550 speak of the command, not of what it names. */
const evidenceOf = (reading: Reading): Evidence => ({
  tokens: tokensOfReply(reading),
  words: reading.words,
  mayEnd: reading.class === 5 && (reading.code ?? 0) >= 550 && ENDING.includes(reading.phase),
});

/** Classifies a reply by the rules and a model, or by the rules alone. */
export const classifyReplyWith = (model: Model | null, answer: SmtpAnswer): Classification => {
  const reading = readReply(answer);
  const { means, by } = weigh(reading);
  const rules = { means: settle(means, reading), by };
  const verdict =
    model === null
      ? rules.means
      : weighModel(model, evidenceOf(reading), rules, (named) =>
          settle(soften(reading, named), reading),
        );
  const classification = toClassification(verdict);
  const seconds = classification.retry === 'later' ? readRetryAfter(reading.words) : null;
  return seconds === null ? classification : { ...classification, retryAfterSeconds: seconds };
};

/**
 * Classifies a reply of an SMTP server by what it concerns, what it means and whether time helps.
 * A 5xx that gives no reason is the relay's and is retried: it never ends a send. Never
 * throws.
 */
export const classifySmtpReply = (answer: SmtpAnswer): Classification =>
  classifyReplyWith(loadModel(), answer);

/**
 * Classifies what a bounce repeats of a reply by the rules alone. The model has learned from whole
 * replies to a hand-off.
 */
export const classifyRepeatedReply = (answer: SmtpAnswer): Classification =>
  classifyReplyWith(null, answer);

/**
 * Whether the words of a reply name a cause on the sender's side, or a full mailbox: then its codes
 * alone prove nothing about the recipient.
 */
export const repliesOtherCause = (reply: string): boolean => {
  const { words, enhanced } = readReply({ reply, phase: 'any' });
  return namesOtherCause(coreOf(words), enhanced);
};
