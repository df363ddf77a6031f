import type { Reading } from '../rules/rule.ts';
import { parseReply } from '../text/parse_reply.ts';
import { readWords } from '../text/words.ts';
import type { SmtpPhase } from '../verdicts.ts';

export type SmtpAnswer = {
  /** The whole reply, all its lines, with or without codes. */
  reply: string;
  phase: SmtpPhase;
  from?: string;
  to?: string;
};

const classOf = (code: number | null, enhanced: string | null): 0 | 4 | 5 => {
  const digit = code === null ? Number(enhanced?.[0] ?? 0) : Math.floor(code / 100);
  return digit === 4 || digit === 5 ? digit : 0;
};

/** Reads a reply into codes and masked words. */
export const readReply = ({ reply, phase, from, to }: SmtpAnswer): Reading => {
  const parsed = parseReply(reply);
  return {
    ...parsed,
    ...readWords(parsed.lines.join(' '), { from, to }),
    phase,
    class: classOf(parsed.code, parsed.enhanced),
    knowsFrom: from !== undefined && from !== '',
  };
};
