import type { Rule } from '../rules/rule.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/**
 * Yahoo and AOL. Sources: senders.yahooinc.com/smtp-error-codes, postmaster.aol.com/error-codes.
 */
export const YAHOO_RULES: readonly Rule[] = [
  { when: /\[ts[su]?0?3\]|permanently deferred/, means: 'relay_reputation' },
  { code: /5\.7\.9$/, when: /policy reasons/, means: 'sender_reputation' },
  { code: /5\.7\.5$/, when: /au01/, means: 'sender_reputation' },
  { when: /\[ph01\]|\[ph\d\d\]/, means: 'content_refused' },
  { when: /\[(?:ts[su]?\d\d|bl\d\d|ip\d\d|ipts\d\d)\]|\bipts04\b/, ...BY_CLASS },
  { when: /\[gl01\]/, means: 'greylisted_relay' },
  { when: /^request failed; mailbox unavailable/, means: 'sender_not_allowed' },
  { when: /message temporarily deferred - (?:4\.16|\[?\d)/, means: 'relay_reputation_later' },
  { when: /headers are not rfc/, means: 'message_syntax' },
  { when: /message not (?:allowed|accepted) - \[/, means: 'content_refused' },
  { when: /\bvs1-(?:ip|mf)\b|vs\d-mf/, means: 'relay_reputation_later' },
  { when: /resources temporarily unavailable/, means: 'temporary_local' },
  // AOL's codes in parentheses.
  { when: /\(?(?:hvu|rly):b[d\d]?|\(hvu:/, also: /hvu|rly:bd/, means: 'content_refused' },
  { when: /\brtr:ch|rly:ch2?/, means: 'content_refused' },
  { when: /\b(?:rtr|rly|con|cnn|dyn|dns):[a-z]{1,2}\d?\b/, ...BY_CLASS },
];
