import { anyOf } from '../rules/rule.ts';
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
  { when: /address contains illegal characters/, means: 'sender_syntax' },
  // OpenDMARC and others: the list that they ask does not answer.
  { code: /^4/, when: /temporary dmarc|dmarc dns lookup/, means: 'temporary_local' },
];
