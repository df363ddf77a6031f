import { z } from 'zod';
import { sql } from '../base/db.ts';
import { toStorable } from '../base/text.ts';
import { sanitizeReply } from './answers/answers.ts';
import type { Reply } from './outcome.ts';

/** The answer for which a provider is parked or held: bounded, without secrets and without any address. */
export const AccountAnswer = z
  .strictObject({
    code: z.int().nullable(),
    enhanced_code: z.string().nullable(),
    text: z.string().nullable(),
  })
  .meta({ description: 'What it answered, without secrets and addresses; null when unknown.' });
export type AccountAnswer = z.output<typeof AccountAnswer>;

/** The same in a row. Another release may have kept another shape. */
export const KeptAnswer = AccountAnswer.nullable().catch(null);

/** Returns what of an answer is kept with a provider: an answer about one recipient may hold an address. */
export const toAccountAnswer = (reply: Reply | undefined): AccountAnswer | null => {
  if (reply === undefined) return null;
  const { code, enhanced, text } = reply;
  const shown = text === null ? null : toStorable(sanitizeReply({ reply: text }).text);
  return { code, enhanced_code: enhanced === null ? null : toStorable(enhanced), text: shown };
};

/** Writes an answer as its column has it. */
export const toColumn = (answer: AccountAnswer | null) =>
  answer === null ? sql.fragment`null` : sql.jsonb(answer);

/** Returns an answer as one line; null where there is none. */
export const inOneLine = (answer: AccountAnswer | null): string | null => {
  const { code = null, enhanced_code = null, text = null } = answer ?? {};
  return [code, enhanced_code, text].filter((part) => part !== null).join(' ') || null;
};
