// One test for each wording of what a reply means.
import { describe, expect, test } from 'vitest';
import { classifySmtpReply } from '../../../src/providers/answers/answers.ts';
import type { SmtpPhase } from '../../../src/providers/answers/answers.ts';

/** What the replies say, the command that they answer, their `scope/meaning/retry`, the replies. */
export type Wordings = readonly [string, SmtpPhase, string, readonly string[]];

const classify = (reply: string, phase: SmtpPhase): string => {
  const { scope, meaning, retry } = classifySmtpReply({
    reply,
    phase,
    from: 'news@sender.example',
    to: 'bob@rcpt.example',
  });
  return `${scope}/${meaning}/${retry}`;
};

export const describeWordings = (tables: readonly Wordings[]): void => {
  describe.each(tables)('%s', (_, phase, expected, replies) => {
    test.each(replies)('%s', (reply) => {
      expect(classify(reply, phase)).toBe(expected);
    });
  });
};
