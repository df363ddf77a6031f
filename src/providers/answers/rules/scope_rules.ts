import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';
import { SERVER_RULES } from './server_rules.ts';

/** The sender's address or domain is the subject: another sender of the same login may pass. */
const OF_SENDER: readonly Rule[] = [
  {
    when: phrases(`
      (from|sender|mail from|envelope) and (auth|log ?in|user ?name|authenticated user) (are |is )?(not the same|
        different|mismatch*|(do|does)(n't| not) match)
    `),
    at: ['mail', 'rcpt', 'data', 'body', 'any'],
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      domain (name )?(is )?required|(must|should|please) (specify|have|give|include) an? domain
    `),
    not: phrases(`helo|ehlo|recipient*|rcpt`),
    at: ['mail'],
    code: /^5/,
    means: 'sender_syntax',
  },
  {
    when: phrases(`
      (incorrect|wrong|invalid|bad) (auth|authentication|log ?in) for _ _ (address|sender|e-?mail|@from|@addr)
      (authenticated|logged in|signed in) as (an? |the )?(other|another|different) (user|address|sender|account)
    `),
    not: phrases(`recipient*|rcpt|password|username`),
    at: ['mail', 'rcpt', 'data', 'body', 'any'],
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      (not|n't|never|no longer) (be )?(authori[sz]ed|allowed|permitted|entitled) to (send|use|submit|write) _ _ _ (with|
        from|as|using) _ (e-?mail )?(address|sender|domain|@from|@fromdomain|@addr)
    `),
    not: phrases(`
      recipient*|ips?|@ip|hosts?|server|client (host|ip|address)|network|spf|dkim|dmarc|per day|limit*
    `),
    code: /^5/,
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      ^(the |this |your )?(from|sender|sender's|sending|mail from) (domain|address|e-?mail)? ?(is |was )?(not (yet )?(
        trusted|confirmed|approved|enabled|activated)|untrusted|unapproved|unconfirmed)
      (sender|from address|from domain) (is )?not (in|on) (the |our |an? )?(allow|white|safe|approved) ?list
    `),
    not: phrases(
      `{mailbox}|user|group|(mailing|distribution) list|ip|@ip|host|server|dmarc|spf|dkim`,
    ),
    code: /^5/,
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`local users? only|only local (users?|senders?)`),
    at: ['mail'],
    code: /^5/,
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`your e-?mail address (has been|is|was) (temporarily |permanently )?{stopped}`),
    not: phrases(`{mailbox}|{list}|by (the|this|a) (user|addressee)|ip|@ip|host|server`),
    at: ['mail', 'rcpt', 'data', 'body', 'any'],
    code: /^5/,
    means: 'sender_suspended',
  },
];

/** A stop that ends by itself is a limit. */
const OF_TIME: readonly Rule[] = [
  {
    when: phrases(`
      {stopped} _ _ (until|till) (tomorrow|midnight|next|noon|the (end|next)|(mon|tue|wed|thu|fri|sat|
        sun)[a-z]{0,6}|\\d{1,4})
      {stopped} for (the next |another |an? |one )?(\\d+ )?{unit}
    `),
    also: phrases(`{quantity}|too (many|much|fast)|\\d+ {piece}`),
    not: phrases(
      `{mailbox_only}|ips?|@ip|hosts?|server|client|network|connection*|password|{mailbox}`,
    ),
    means: 'account_limit',
  },
];

/** A rate that a recipient takes is the recipient's, not the account's. */
const OF_RECIPIENT: readonly Rule[] = [
  {
    when: phrases(`
      (account|user|mailbox|address|recipient|@to|@addr) ... (accept|receive|take|get)[a-z]{0,3} _ (more than|
        only|at most|up to|no more than) _ \\d+ _ {piece}
      (not|n't|cannot) (to )?(accept|receive|take) more than \\d+ _ {piece}
    `),
    not: phrases(`
      your|you|send*|sent|submi*|outgoing|outbound|{session}|per message|ips?|@ip|hosts?|servers?|client|we
      from|bytes|size|[kmg]b
    `),
    at: ['rcpt', 'data', 'body', 'any'],
    means: 'temporary_recipient',
  },
  {
    when: phrases(`
      (cannot|can't|could not|couldn't|unable to|failed to|did not) (find|resolve|locate|look up|determine|get|
        obtain) _ _ (mail exchangers?|mx|mx (record|host)s?|mail servers?) (for|of) _ _ (@host|@todomain|
        domain|recipient*|destination)
    `),
    not: phrases(`{sender}|your|@fromdomain|helo|ehlo|client|@ip|ptr|reverse`),
    at: ['rcpt', 'data', 'body', 'any'],
    code: /^4/,
    means: 'temporary_recipient',
  },
];

/** The account that pays, or that owns the one that sends. */
const OF_OWNER: readonly Rule[] = [
  {
    when: phrases(`
      {owner} account (is |was |has been )?(currently )?(unavailable|not available|abnormal|invalid|in arrears|
        {stopped})
      (unavailable|abnormal|{stopped}) {owner} account
    `),
    not: phrases(
      `{mailbox}|addressee|temporar*|try again|later|retry|until|for \\d+|at (this|the) (time|moment)`,
    ),
    at: ['connect', 'ehlo', 'auth', 'mail', 'data'],
    means: 'account_suspended',
  },
];

/** The machine that connects, where the reply gives no other reason. */
const OF_MACHINE: readonly Rule[] = [
  {
    when: phrases(`
      no (smtp )?(access|service|entry|permission) (allowed |permitted )?(for|from) (this|that|your|the) (client )?(ip|
        ips|ip address|@ip|network|ip range|range|host|machine)
      no (mail|e-?mail|smtp|connections?) (allowed |permitted )?from (this|that|your|the) (client )?(ip|ips|ip address|
        @ip|network|ip range|range|machine)
      no (smtp )?(access|service|entry|permission) (allowed |permitted )?(for|from) (ip |host )?@ip
      no (mail|e-?mail|smtp|connections?) (allowed |permitted )?from (ip |host )?@ip
      (this|that|your|the) (ip|ip address|network|ip range) (@ip )?(has|have|gets?) no (access|permission|
        rights?|service)
      (this|that|your) (ip|ip address|network) (may|can|must)(not| not) (connect|send|use|deliver)
    `),
    not: phrases(`
      account|user|login|auth*|{mailbox}|relay*|white ?list*|ptr|reverse|(does|did)(n't| not)|spf|dmarc|temporar*
    `),
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
];

/** Encryption is what is missing. */
const OF_TLS: readonly Rule[] = [
  {
    when: phrases(`
      (transport layer security|ssl/tls|tls/ssl|starttls) (encryption |is )?{needed}
      without (using |an? )?(ssl/tls|tls/ssl|tls|ssl|starttls|encryption) _ _ (is |are )?(not (allowed|
        permitted|accepted|
        supported|possible)|refused|denied|forbidden|prohibited|rejected|disabled)
      (please )?(enable|turn on|switch on|activate) (the )?(ssl/tls|tls/ssl|tls|ssl|starttls|encryption)
      (unencrypted|non-?(tls|ssl)|insecure) (connections?|sessions?|smtp|log ?ins?) _ _ (not (allowed|permitted|
        accepted|supported)|refused|denied|forbidden|prohibited|rejected|disabled)
    `),
    not: phrases(`
      handshake|negotiat*|unavailable|not (available|offered)|recipient*|destination|remote (server|host)
      attachments?|files?|s/mime|pgp|openpgp|links?
    `),
    code: /^5/,
    means: 'tls_required',
  },
];

/**
 * What the sentence is about, where a word in it fits another rule as well. Read with the rules that lead.
 * None of them ends a send.
 */
export const SCOPE_RULES: readonly Rule[] = [
  ...OF_TLS,
  ...SERVER_RULES,
  ...OF_OWNER,
  ...OF_MACHINE,
  ...OF_RECIPIENT,
  ...OF_TIME,
  ...OF_SENDER,
];
