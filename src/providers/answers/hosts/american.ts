import type { Rule } from '../rules/rule.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/** GoDaddy (secureserver.net) ends its replies with `IB` and a number. */
const GODADDY_RULES: readonly Rule[] = [
  { when: /\bib(?:10[3-6])\b|rbl reject/, means: 'relay_reputation' },
  { when: /\bib108\b/, means: 'relay_reputation' },
  { when: /\bib(?:101)\b/, means: 'temporary_local' },
  { when: /\bib(?:11[0-3])\b/, means: 'relay_reputation_later' },
  { when: /\bib(?:504|607)\b/, means: 'relay_limit' },
  { when: /\bib(?:007|510)\b/, means: 'connection_limit' },
  { when: /\bib605\b/, means: 'message_later' },
  // Bluehost and others of the same group.
  { when: /requested action aborted: try again later - gl/, means: 'greylisted_recipient' },
  { when: /recipient rejected gl\/bl/, means: 'recipient_policy' },
  { when: /\bib(?:301|302)\b/, means: 'protocol' },
  { when: /\bib(?:401)\b/, means: 'auth_required' },
  { when: /\bib(?:501|502)\b/, means: 'message_syntax' },
  { when: /\bib506\b/, means: 'sender_dns' },
  { when: /\bib508\b/, means: 'sender_reputation' },
  { when: /\bib(?:212|705)\b/, means: 'content_refused' },
];

/** Facebook (postmaster.facebook.com/response_codes). */
const FACEBOOK_RULES: readonly Rule[] = [
  { when: /\bpol-p[1-4]\b/, means: 'relay_reputation' },
  { when: /\bpol-t[1-3]\b/, means: 'relay_reputation_later' },
  { when: /\bpol-p[56]\b|\bmsg-p2\b/, means: 'content_refused' },
  { when: /\bpol-p7\b/, means: 'sender_reputation' },
  { when: /\brcp-p1\b|\bint-p[134]\b/, means: 'recipient_unknown' },
  { when: /\brcp-p[23]\b/, means: 'recipient_policy' },
  { when: /\brcp-t[14]\b/, means: 'temporary_recipient' },
  { when: /\bmsg-p1\b|\bint-p2\b/, means: 'message_too_large' },
  { when: /\bmsg-p3\b/, means: 'message_syntax' },
  { when: /\bmsg-t1\b/, means: 'message_later' },
  { when: /\bdns-p[12]\b|\bdns-t1\b/, means: 'sender_dns' },
  { when: /\bdns-p3\b|\bdns-t2\b/, means: 'relay_reputation' },
  { when: /\bcon-t[1-4]\b/, means: 'connection_limit' },
];

/** Cox, Spectrum and Charter: `AUP#` and a code. */
const AUP_RULES: readonly Rule[] = [
  { when: /aup#cx(?:bl)\b|aup#ipbl\d|aup#cxmj/, ...BY_CLASS },
  { when: /aup#cxdns/, means: 'relay_reputation' },
  { when: /aup#cx(?:cnct|mxrt)\b/, means: 'connection_limit' },
  { when: /aup#urlbl/, means: 'content_refused' },
  { when: /aup#cxthrt/, means: 'account_suspended' },
  { when: /aup#(?:cdrbl|cxsndr)/, means: 'sender_reputation' },
  { when: /aup#in-1[12]\d0/, not: /sender rejected/, ...BY_CLASS },
  { when: /aup#(?:in|out|i|o)-13[0-4]0/, not: /sender rejected/, means: 'connection_limit' },
  { when: /aup#(?:in|out|i|o)-1[34][5-9]0/, not: /sender rejected/, means: 'relay_limit' },
  {
    when: /aup#(?:in|out|i|o)-\d{3,5}/,
    not: /sender rejected/,
    at: ['connect', 'ehlo'],
    ...BY_CLASS,
  },
];

/** Hosts in America. */
export const AMERICAN_RULES: readonly Rule[] = [
  ...GODADDY_RULES,
  ...FACEBOOK_RULES,
  ...AUP_RULES,
  // Comcast (postmaster.comcast.net/smtp-error-codes.php).
  { when: /comcast block for spam|#bl0\d{5}/, ...BY_CLASS },
  { when: /#rl0\d{5}/, means: 'relay_limit' },
  { when: /#dm\d{6}/, means: 'sender_reputation' },
  // Rackspace (emailsrvr.com) ends its replies with a letter and a number.
  { when: /recipient's server refused to accept your message/, means: 'recipient_policy' },
  { when: /header_contenttype|mime_banned_file/, means: 'content_refused' },
  // Titan.
  {
    when: /^mailbox does not exist : domains|recipient address rejected: mailbox does not exist/,
    means: 'recipient_unknown',
  },
  { when: /sender ip rejected: spam rate/, means: 'relay_reputation' },
  // ImprovMX.
  { when: /\(#id-5\.9\.4\)/, means: 'message_later' },
];
