import type { Notice } from './notice.ts';

/** What a relay says of a bounce, in SMTP's words. Any of it may be missing. */
export type BounceCodes = { code: number | null; enhanced: string | null; reason: string | null };

/** Enhanced codes (RFC 3463) that say that there is no such mailbox, and never will be. */
const HARD_ENHANCED = /^5\.1\.(?:1|2|3|6|10)$|^5\.2\.1$/;

/** The host or the domain never accepts mail (RFC 7504). */
const NEVER_ACCEPTS = [521, 556];

const NO_SUCH_MAILBOX = 550;
const UNKNOWN_USER = new RegExp(
  [
    'user unknown',
    'no such user',
    'unknown recipient',
    'does not exist',
    'mailbox (?:not found|unavailable)',
    'invalid (?:recipient|mailbox)',
  ].join('|'),
  'i',
);

/** Hard only where the codes say that the mailbox is gone; 5.7.x is policy; in doubt it is soft. */
export const bounceTypeOf = ({ code, enhanced, reason }: BounceCodes): Notice['bounceType'] => {
  if (enhanced?.startsWith('5.7.')) return 'block';
  if (enhanced && HARD_ENHANCED.test(enhanced)) return 'hard';
  if (code !== null && NEVER_ACCEPTS.includes(code)) return 'hard';
  const isUnknownUser = code === NO_SUCH_MAILBOX && UNKNOWN_USER.test(reason ?? '');
  return isUnknownUser && !enhanced ? 'hard' : 'soft';
};
