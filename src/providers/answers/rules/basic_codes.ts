import type { SmtpPhase, VerdictName } from '../verdicts.ts';

type Meaning = { codes: readonly number[]; at?: readonly SmtpPhase[]; means: VerdictName };

/** Basic codes (RFC 5321 §4.2.3, RFC 4954 §6, RFC 7504) by themselves: the weakest evidence. */
const MEANINGS: readonly Meaning[] = [
  { codes: [534, 535], means: 'auth_failed' },
  { codes: [500, 501, 502, 503, 504, 530, 550, 553, 554], at: ['auth'], means: 'auth_failed' },
  { codes: [530], means: 'auth_required' },
  { codes: [538], means: 'tls_required' },
  { codes: [454], at: ['auth'], means: 'temporary_local' },
  { codes: [500, 501, 502, 503, 504, 555], means: 'protocol' },
  { codes: [521, 556], at: ['rcpt'], means: 'recipient_unknown' },
  { codes: [521, 554], at: ['connect'], means: 'relay_policy' },
  { codes: [550, 551, 553], at: ['mail'], means: 'sender_not_allowed' },
  { codes: [450], at: ['rcpt'], means: 'temporary_recipient' },
  { codes: [552], at: ['rcpt'], means: 'mailbox_full' },
  { codes: [552], at: ['body', 'data'], means: 'message_too_large' },
  { codes: [432], means: 'auth_required' },
];

/**
 * The meaning of a basic code at a phase. A 5xx that says nothing else is not taken for a final
 * answer.
 */
export const meaningOfBasic = (code: number | null, phase: SmtpPhase): VerdictName => {
  const found = MEANINGS.find(
    (each) => code !== null && each.codes.includes(code) && (each.at?.includes(phase) ?? true),
  );
  if (found !== undefined) return found.means;
  return code !== null && code < 500 ? 'temporary_local' : 'unsure';
};
