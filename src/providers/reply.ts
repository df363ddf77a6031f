import { sanitizeReply } from './answers/answers.ts';
import type { Reply } from './outcome.ts';

/** Between whom a message goes, and what must not appear in an answer that is shown. */
export type Parties = { from: string; to: string; secrets: readonly string[] };

/** Returns what may be shown of an answer: bounded, without control characters, secrets and other addresses. */
export const toReply = (answer: string, { to, secrets }: Omit<Parties, 'from'>): Reply =>
  sanitizeReply({ reply: answer, to, secrets: [...secrets] });
