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
    when: phrases(`
      recipient (address )?(is )?(rejected|refused|denied|prohibited|forbidden|banned|barred|not (allowed|permitted|
        accepted))
      address rejected
    `),
    not: phrases(`your|from|senders?|ip|client`),
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
  {
    when: phrases(`
      protocol (violation|deviation)|deviat* from _ _ protocol
      violat* (the )?(rfc ?(821|2821|5321)|smtp)|not following _ (smtp )?protocol
      wait for (my|the|our) (reply|response|banner|greeting)|unsupported esmtp|esmtp extension
      syntax should be|invalid syntax|mail software violates
    `),
    not: phrases(`header*|message|spam*`),
    at: ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'any'],
    code: /^5/,
    means: 'protocol',
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

/** Words of the sender's side: beside them a hint proves nothing. */
const SENDER_SIDE = phrases(`
  ip|ips|@ip|client|hosts?|mta|network|servers?|senders?|from|your (domain|account|address|ip)|reputation|account*
  recipient*|mailbox*|users?|quota|limit*|rate|auth*|login|dmarc|spf|dkim|listed|black*|block ?list*|relay*|you
  sending|sent
  send|outgoing|outbound|plan|subscription|support|billing|payment|suspend*|customers?|verified|verify|domain|address
`);

/**
 * What a refusal is about by a single word, where no phrase is known. Read last, and only after
 * the text: then nothing else is as likely.
 */
export const HINT_RULES: readonly Rule[] = [
  {
    when: phrases(`
      headers?|mime|rfc ?\\d{3,4}|standards?|malformed|encod*|decod*|pars(e|er|ing)|charset|boundary|syntax|(cr)?lf
      newlines?|8 ?bit
      (wrongly|badly|incorrectly) format*|utf-?8|non ?-?ascii|base64|quoted ?printable|date:?|message ?-?id
    `),
    not: SENDER_SIDE,
    at: ['body'],
    code: /^5/,
    means: 'message_syntax',
  },
  {
    when: phrases(`
      {spam}|virus*|malware|attach*|uuencod*
      html|url*|links?|contents?|keywords?|profanity|filter*|dcc|razor|pyzor|quarantin*
      surbl|uribl|executables?|macros?|zip|archive*|scor(e|ed|ing)|bayes*|suspicious|dangerous|unsafe|harmful
    `),
    not: SENDER_SIDE,
    at: ['body'],
    code: /^5/,
    means: 'content_refused',
  },
  // A part of the server that is named in a 4xx.
  {
    when: phrases(`
      db|database|sql|mysql|postgres*|redis|mongo*|ldap|backend|storage|plugin|hook|resolver|disk|socket|internal
      (policy|greylist*|rate limit*|quota|directory|lookup) (service|server|daemon|database|check)
    `),
    not: phrases(`quota exceeded|full|mailbox|recipient*|user`),
    code: /^4/,
    means: 'temporary_local',
  },
];
