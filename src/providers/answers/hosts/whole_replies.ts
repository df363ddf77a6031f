import type { Rule } from '../rules/rule.ts';

/** Replies that mean this only where they say nothing else. Read before all others, as words. */
export const WHOLE_REPLIES: readonly Rule[] = [
  // Postfix postscreen, after its deep tests: the next connection from the same address is taken.
  {
    code: /^450 4\.3\.2$/,
    when: /^service currently unavailable\.?$/,
    means: 'greylisted_connection',
  },
  // OpenSMTPD: the messages of one session.
  { code: /^452 /, when: /too many messages sent\.?$/, means: 'connection_limit' },
  // Rspamd greylists with these words alone.
  { when: /^try again later\.?$/, code: /4\.7\.1$/, at: ['body'], means: 'greylisted_message' },
  { when: /^try again later\.?$/, code: /4\.7\.1$/, at: ['rcpt'], means: 'greylisted_recipient' },
  // Titan.
  { code: /^554 5\.7\.1$/, when: /^command rejected\.?$/, means: 'relay_reputation' },
  // Courier.
  {
    when: /^temporary failure\.?$/,
    code: /^450/,
    at: ['rcpt'],
    means: 'temporary_recipient',
  },
];
