import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Phrases that mean little by themselves: read last, on the whole text. */
export const GENERIC_RULES: readonly Rule[] = [
  {
    when: phrases(`mailbox (is )?(unavailable|not available)|mailbox name not allowed`),
    code: /^5/,
    at: ['rcpt', 'any', 'body'],
    means: 'recipient_unknown',
  },
  {
    when: phrases(`(mailbox|recipient) (is )?(temporarily )?(unavailable|not available)`),
    code: /^4/,
    means: 'temporary_recipient',
  },
  {
    when: phrases(`recipient address(es)? rejected: access denied`),
    means: 'recipient_unknown',
    at4xx: 'temporary_recipient',
  },
  { when: phrases(`(recipient )?address rejected|recipient rejected`), code: /5\.1\.[01]$/, means: 'recipient_unknown' },
  { when: phrases(`recipient (is )?unavailable`), code: /^5/, means: 'recipient_disabled' },
  {
    when: /^@(?:to|addr):? recipient address rejected\.?$/,
    means: 'recipient_unknown',
    at4xx: 'temporary_recipient',
  },
  {
    when: phrases(`(malformed|illegal|bad|invalid) (e-?mail )?address`),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_unknown',
  },
  {
    when: phrases(`recipient (address )?(rejected|refused|denied)|address rejected`),
    at: ['rcpt', 'any'],
    means: 'recipient_policy',
    at4xx: 'temporary_recipient',
  },
  {
    when: phrases(
      `(message|mail|e-?mail|content) (was |is |has been )?(rejected|refused|not (allowed|accepted)|blocked|denied)`,
    ),
    at: ['body', 'any'],
    means: 'content_refused',
    at4xx: 'message_later',
  },
];
