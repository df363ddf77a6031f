import type { SmtpPhase, VerdictName } from '../verdicts.ts';
import type { ParsedReply } from '../text/parse_reply.ts';
import type { Words } from '../text/words.ts';
import type { Pattern } from './pattern.ts';
import { subjectAt } from './subjects.ts';
import type { Subject } from './subjects.ts';

/** A reply as the rules see it. `class`: 4 or 5; 0 where no code could be read. */
export type Reading = ParsedReply &
  Words & { phase: SmtpPhase; class: 0 | 4 | 5; knowsFrom: boolean };

/**
 * One line of a table. It fits where every member that is there fits; the first rule that fits
 * counts. `means` is one meaning, or one for each subject that the words next to the match may
 * name.
 */
export type Rule = {
  when?: Pattern;
  also?: Pattern;
  not?: Pattern;
  /** Basic and enhanced code, as `550 5.7.1`. */
  code?: Pattern;
  at?: readonly SmtpPhase[];
  /**
   * Only where the sender's address is known, so that a reply that does not name it is about
   * another.
   */
  knowsFrom?: true;
  means: VerdictName | Partial<Record<Subject, VerdictName>>;
  /** The meaning where the reply is a 4xx, if it differs. */
  at4xx?: VerdictName;
};

const fits = (rule: Rule, text: string, { code, enhanced, phase, knowsFrom }: Reading): boolean =>
  (rule.knowsFrom === undefined || knowsFrom) &&
  (rule.at === undefined || rule.at.includes(phase)) &&
  (rule.code === undefined || rule.code.test(`${code ?? ''} ${enhanced ?? ''}`)) &&
  (rule.when === undefined || rule.when.test(text)) &&
  (rule.also === undefined || rule.also.test(text)) &&
  !rule.not?.test(text);

const meaningOf = (rule: Rule, text: string, reading: Reading): VerdictName | null => {
  if (!fits(rule, text, reading)) return null;
  if (reading.class === 4 && rule.at4xx !== undefined) return rule.at4xx;
  if (typeof rule.means === 'string') return rule.means;
  const match = rule.when?.exec(text);
  const from = match?.index ?? 0;
  return rule.means[subjectAt(text, { from, to: from + (match?.[0].length ?? 0) })] ?? null;
};

/** The first rule that fits, and its meaning, or null. */
export const findRule = (
  rules: readonly Rule[],
  reading: Reading,
  text: string,
): { rule: Rule; means: VerdictName } | null => {
  for (const rule of rules) {
    const means = meaningOf(rule, text, reading);
    if (means !== null) return { rule, means };
  }
  return null;
};

/** The meaning by the first rule that fits, or null. */
export const matchRules = (
  rules: readonly Rule[],
  reading: Reading,
  text: string,
): VerdictName | null => findRule(rules, reading, text)?.means ?? null;
