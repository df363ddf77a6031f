import type { Rule } from '../rules/rule.ts';

/** Whole replies of server programs whose words say something else than they mean. */
export const SOFTWARE_RULES: readonly Rule[] = [
  // Postfix postscreen, after its deep tests: the next connection from the same address is taken.
  { code: /^450 4\.3\.2$/, when: /^service currently unavailable$/, means: 'greylisted_connection' },
  { code: /^550(?: 5\.5\.1)? ?$/, when: /^protocol (?:error|violation)\b/, means: 'relay_reputation' },
  { code: /^503 /, when: /authentication not enabled/, means: 'auth_required' },
  // OpenSMTPD: the messages of one session.
  { code: /^452 /, when: /too many messages sent$/, means: 'connection_limit' },
  // Haraka, Exim, Postfix: no recipient of this transaction was taken.
  { when: /^(?:error: )?no valid recipients/, at: ['data', 'body'], means: 'message_other' },
  { when: /^too many invalid recipients/, at: ['connect', 'mail'], means: 'relay_reputation_later' },
  // Rspamd greylists with these words alone.
  { when: /^try again later$/, code: /4\.7\.1$/, at: ['body'], means: 'greylisted_message' },
  { when: /^try again later$/, code: /4\.7\.1$/, at: ['rcpt'], means: 'greylisted_recipient' },
  // OpenDMARC and others: the list that they ask does not answer.
  { code: /^4/, when: /temporary dmarc|dmarc dns lookup/, means: 'temporary_local' },
];
