import { toClassification, VERDICTS } from './classification.ts';
import type { Classification, SmtpPhase, VerdictName } from './classification.ts';
import { HOST_RULES } from './hosts/hosts.ts';
import { meaningOfBasic } from './rules/basic_codes.ts';
import { meaningOfEnhanced } from './rules/enhanced_codes.ts';
import { ACCOUNT_RULES } from './rules/account_rules.ts';
import { CONNECTION_RULES } from './rules/connection_rules.ts';
import { GENERIC_RULES } from './rules/generic_rules.ts';
import { LOGIN_RULES } from './rules/login_rules.ts';
import { CONTENT_AND_FORM_RULES, MESSAGE_RULES } from './rules/message_rules.ts';
import { MAILBOX_RULES, RECIPIENT_POLICY_RULES, RECIPIENT_RULES } from './rules/recipient_rules.ts';
import { RELAY_RULES, TEMPORARY_RULES } from './rules/relay_rules.ts';
import { REPUTATION_RULES } from './rules/reputation_rules.ts';
import { SENDER_RULES } from './rules/sender_rules.ts';
import { matchRules } from './rules/rule.ts';
import type { Reading } from './rules/rule.ts';
import { parseReply } from './text/parse_reply.ts';
import { readWords } from './text/words.ts';

export type SmtpAnswer = { reply: string; phase: SmtpPhase; from?: string; to?: string };

const WORD_RULES = [
  ...CONNECTION_RULES,
  ...MAILBOX_RULES,
  ...LOGIN_RULES,
  ...SENDER_RULES,
  ...RECIPIENT_POLICY_RULES,
  ...MESSAGE_RULES,
  ...ACCOUNT_RULES,
  ...CONTENT_AND_FORM_RULES,
  ...RELAY_RULES,
  ...REPUTATION_RULES,
  ...RECIPIENT_RULES,
  ...TEMPORARY_RULES,
];

const classOf = (code: number | null, enhanced: string | null): 0 | 4 | 5 => {
  const digit = code === null ? Number(enhanced?.[0] ?? 0) : Math.floor(code / 100);
  return digit === 4 || digit === 5 ? digit : 0;
};

export const readReply = ({ reply, phase, from, to }: SmtpAnswer): Reading => {
  const parsed = parseReply(reply);
  return {
    ...parsed,
    ...readWords(parsed.lines.join(' '), { from, to }),
    phase,
    class: classOf(parsed.code, parsed.enhanced),
  };
};

/** What servers write before the part that matters. */
const PREFIX =
  /(?:<?@(?:to|addr)>?:? )?recipient address rejected:|requested (?:mail )?action (?:not taken|aborted)(?:: mailbox (?:unavailable|name not allowed))?:?|transaction failed:?|service unavailable;|delivery error: dd|\(in reply to [a-z ]{1,24}command\)\)?|for explanation visit @url|^(?:sorry|error)[,:]/g;

const coreOf = (words: string): string => words.replaceAll(PREFIX, ' ').trim();

export const explain = (reading: Reading): { means: VerdictName; by: string } => {
  const steps: [string, () => VerdictName | null][] = [
    ['host', () => matchRules(HOST_RULES, reading, reading.signs)],
    ['words', () => matchRules(WORD_RULES, reading, coreOf(reading.words))],
    ['generic', () => matchRules(GENERIC_RULES, reading, reading.words)],
    ['enhanced', () => meaningOfEnhanced(reading.enhanced)],
  ];
  for (const [by, step] of steps) {
    const means = step();
    if (means !== null) return { means, by };
  }
  return { means: meaningOfBasic(reading.code, reading.phase), by: 'basic' };
};

/** Classifies a reply of an SMTP server by what it concerns, what it means and whether time helps. */
export const classifySmtpReply = (answer: SmtpAnswer): Classification => {
  const { means } = explain(readReply(answer));
  return toClassification(means in VERDICTS ? means : 'unsure');
};
