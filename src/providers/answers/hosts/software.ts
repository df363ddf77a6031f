import { phrases } from '../rules/phrases.ts';
import { anyOf } from '../rules/pattern.ts';
import type { Rule } from '../rules/rule.ts';

/** Replies of server programs whose words say something else than they mean. */
export const SOFTWARE_RULES: readonly Rule[] = [
  {
    code: /^550(?: 5\.5\.1)? ?$/,
    when: /^protocol (?:error|violation)\b/,
    means: 'relay_reputation',
  },
  { code: /^503 /, when: /authentication not enabled/, means: 'auth_required' },
  // Postfix's access table, unlike a directory (5.4.1).
  {
    code: /5\.7\.1$/,
    when: /recipient address(?:es)? rejected ?: access denied/,
    means: 'recipient_policy',
    at4xx: 'temporary_recipient',
  },
  {
    when: /recipient address(?:es)? rejected ?: access denied/,
    means: 'recipient_unknown',
    at4xx: 'temporary_recipient',
  },
  // Postfix, of the recipient's account.
  {
    when: phrases(`
      recipient address(es)? rejected ?: (the |this |user |e-?mail |your )?(account|user|mailbox|address|
        e-?mails?) _ _ (is |was |has been )?({disabled}|
        deleted|removed)
    `),
    not: phrases(`
      sending|send|outgoing|outbound|spamm*|limit*|quota|full|temporar*|try again|listed|login|relay*|ip
      blocked (by|for|due)
    `),
    code: /^5/,
    means: 'recipient_disabled',
  },
  // qmail and its kin name trouble of their own in parentheses, whatever the words look like.
  {
    code: /^4/,
    when: /\(#4\.(?:3\.\d|4\.[134])\)$/,
    not: /helo|ehlo|gr[ae]y ?list|quota|full|listed|client host|too many|your (?:ip|host)/,
    means: 'temporary_local',
  },
  // netqmail and its kin: a filter of the queue has refused the text.
  {
    when: /^(?:mail server )?permanently rejected message(?: \(#5\.3\.0\))?\.?$/,
    at: ['body'],
    means: 'content_refused',
  },
  // Amavis names its verdict after its own id.
  {
    when: /\bid=[\w-]{3,40} - (?:banned|infected|spam|virus)\b/,
    means: 'content_refused',
    at4xx: 'content_later',
  },
  // A line end alone never becomes right (RFC 5321 §2.3.8).
  {
    code: /^[45]/,
    when: /\bbare (?:lf|cr|line-?feed|newline|line feed|carriage return)s?\b|\/(?:smtplf|barelf|docs\/smtplf)/,
    means: 'message_syntax',
  },
  { when: /recipient address rejected: need fully/, means: 'recipient_unknown' },
  // hMailServer refuses to relay in these words.
  { when: /^delivery is not allowed to this address/, means: 'relay_denied' },
  // qmail: the mailbox of the recipient is over its quota or not there.
  { when: /^qq trouble in home directory/, means: 'mailbox_full' },
  // MessageLabs.
  { code: /^542 /, when: /^rejected$/, means: 'recipient_unknown' },
  // The resolver of a relay.
  { when: /name service error.{0,200}try again/, means: 'temporary_recipient' },
  { when: /name service error/, code: /^5/, means: 'recipient_unknown' },
  // A relay that gave up by itself.
  {
    when: anyOf(
      /message expired|exceeded max (?:time|retries)|queue\.expired/,
      /expired in queue|exceeds the expiry/,
    ),
    means: 'temporary_recipient',
  },
  // Haraka, Exim, Postfix: no recipient of this transaction was taken.
  { when: /^(?:error: )?no valid recipients/, at: ['data', 'body'], means: 'message_other' },
  {
    when: /^too many invalid recipients/,
    at: ['connect', 'mail'],
    means: 'relay_reputation_later',
  },
  // Amazon SES: which address it is shows only where the reply names one that is known.
  { when: /address contains illegal characters.*@to/, means: 'recipient_unknown' },
  { when: /address contains illegal characters|missing final @domain/, means: 'sender_syntax' },
  // OpenDMARC and others: the list that they ask does not answer.
  { code: /^4/, when: /temporary dmarc|dmarc dns lookup/, means: 'temporary_local' },
];
