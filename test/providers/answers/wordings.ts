// One test for each wording of what a reply means.
import { describe, expect, test } from 'vitest';
import { classifySmtpReply } from '../../../src/providers/answers/answers.ts';
import type { Classification, SmtpPhase } from '../../../src/providers/answers/answers.ts';

/** What the replies say, the command that they answer, their `scope/meaning/retry`, the replies. */
export type Wordings = readonly [string, SmtpPhase, string, readonly string[]];

export const spell = ({ scope, meaning, retry }: Classification): string =>
  `${scope}/${meaning}/${retry}`;

/** Returns the `scope/meaning/retry` of a reply. */
export const classify = (reply: string, phase: SmtpPhase): string =>
  spell(classifySmtpReply({ reply, phase, from: 'news@sender.example', to: 'bob@rcpt.example' }));

export const describeWordings = (tables: readonly Wordings[]): void => {
  describe.each(tables)('%s', (_, phase, expected, replies) => {
    test.each(replies)('%s', (reply) => {
      expect(classify(reply, phase)).toBe(expected);
    });
  });
};
