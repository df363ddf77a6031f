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
  {
    when: phrases(`(recipient )?address rejected|recipient rejected`),
    code: /5\.1\.[01]$/,
    means: 'recipient_unknown',
  },
  {
    when: phrases(`{unknown}`),
    at: ['rcpt'],
    code: /^55[0134]/,
    not: phrases(`
      sender*|from|domain*|ip|client|helo|ehlo|your|you|host|command|auth*|credential*|dns|mx
      relay*|address not known
    `),
    means: 'recipient_unknown',
  },
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
    when: phrases(`
      (message|mail|e-?mail|content) (was |is |has been )?(rejected|refused|not (allowed|
        accepted)|blocked|denied)
    `),
    at: ['body', 'any'],
    not: phrases(`sender|from|domain|ip|client|account`),
    means: 'content_refused',
    at4xx: 'message_later',
  },
  { code: /^503/, at: ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'any'], means: 'protocol_state' },
];

/**
 * What is named, and that something is wrong with it: read where the enhanced code says nothing.
 */
export const WEAK_RULES: readonly Rule[] = [
  { at: ['auth'], code: /^5/, means: 'auth_failed' },
  {
    when: phrases(`
      {sender} ~ {refused}|(bad|fake|black|banned|suspicious) (mail )?(sender|address|domain)
    `),
    not: phrases(`recipient*|rcpt|ip|ips|client|host`),
    code: /^5/,
    means: 'sender_reputation',
  },
  {
    when: phrases(`
      {client} ~ {refused}|(ip|host|client|reverse) _ (check|verif*) _ (error|fail*)
    `),
    not: phrases(`recipient*|rcpt|user|mailbox`),
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: phrases(`{sender} ~ {wrong}`),
    not: phrases(`command|parse|syntax`),
    code: /^5/,
    at: ['mail'],
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`(account|user|login) ~ {refused}`),
    at: ['mail', 'data'],
    code: /^5/,
    means: 'account_suspended',
  },
  {
    when: phrases(`{mailbox} ~ {wrong}|(users?|account) ~ {wrong}`),
    not: phrases(`
      sender*|from|ip|client|helo|your|you|auth*|credential*|password|policy|policies|relay*|dns
      error|problem|busy|limit*|quota|domain
    `),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_unknown',
  },
];
