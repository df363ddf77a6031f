import { sanitizeReply } from './answers/answers.ts';
import type { Reply } from './outcome.ts';

/** The sender and the recipient of a message, and the secrets that an answer must not show. */
export type Parties = { from: string; to: string; secrets: readonly string[] };

/** Returns what may be shown of an answer: bounded, without control characters, secrets and other addresses. */
export const toReply = (answer: string, { to, secrets }: Omit<Parties, 'from'>): Reply =>
  sanitizeReply({ reply: answer, to, secrets });
