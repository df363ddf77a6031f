import { ACCOUNT_RULES, COUNTED_RULES } from './account_rules.ts';
import { CONNECTION_RULES } from './connection_rules.ts';
import { HINT_RULES } from './generic_rules.ts';
import { LEADING_RULES } from './leading_rules.ts';
import { LOGIN_RULES } from './login_rules.ts';
import { CONTENT_AND_FORM_RULES, MESSAGE_RULES } from './message_rules.ts';
import { MAILBOX_RULES } from './mailbox_rules.ts';
import { RECIPIENT_POLICY_RULES, RECIPIENT_RULES } from './recipient_rules.ts';
import { RELAY_DENIED_RULES, RELAY_RULES, TEMPORARY_RULES } from './relay_rules.ts';
import { REPUTATION_RULES } from './reputation_rules.ts';
import type { Rule } from './rule.ts';
import { SENDER_RULES } from './sender_rules.ts';

/** The rules after those that lead. */
export const LATER_WORD_RULES: readonly Rule[] = [
  ...CONNECTION_RULES,
  ...COUNTED_RULES,
  ...MAILBOX_RULES,
  ...RELAY_DENIED_RULES,
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
  ...HINT_RULES,
];

/**
 * What words mean, whichever host says them. The order decides where a reply fits more than one.
 */
export const WORD_RULES: readonly Rule[] = [...LEADING_RULES, ...LATER_WORD_RULES];

/** Those that fit many sentences. On unseen replies a model was right more often than they were. */
const BROAD_RULES: ReadonlySet<Rule> = new Set([
  ...SENDER_RULES,
  ...ACCOUNT_RULES,
  ...RELAY_RULES,
  ...RECIPIENT_RULES,
  ...TEMPORARY_RULES,
  ...HINT_RULES,
]);

export const isBroad = (rule: Rule): boolean => BROAD_RULES.has(rule);
