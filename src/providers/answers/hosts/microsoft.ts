import type { Rule } from '../rules/rule.ts';

/**
 * Exchange Online, Outlook.com and Exchange on-premises. Source: learn.microsoft.com, "Email
 * non-delivery reports and SMTP errors in Exchange Online", and the Outlook.com postmaster page.
 */
export const MICROSOFT_RULES: readonly Rule[] = [
  // The tenant or the mailbox that sends.
  { code: /5\.7\.23[236]$/, means: 'account_limit' },
  { code: /5\.1\.90$/, means: 'account_limit' },
  { when: /submission ?quota/, means: 'account_limit' },
  {
    code: /5\.7\.(?:50[123]|7[0-4]\d)$/,
    not: /tenant allow block list/,
    means: 'account_suspended',
  },
  { when: /tenant allow block list/, means: 'recipient_policy' },
  { code: /5\.7\.750$/, means: 'sender_not_allowed' },
  { code: /5\.7\.8\d\d$/, means: 'sender_suspended' },
  { when: /storedrv\.submission.{0,80}quotaexceeded/, means: 'sender_limit' },
  { when: /outboundspamexception/, means: 'account_suspended' },
  { when: /bad outbound sender/, means: 'sender_suspended' },
  { when: /storedrv\.clientsubmit|sender thread limit/, code: /^4/, means: 'login_limit' },
  { code: /^432 /, when: /concurrent connections/, means: 'login_limit' },
  { when: /sendas ?denied|permissions? to send as/, means: 'sender_not_allowed' },
  { code: /5\.7\.57$/, means: 'auth_required' },
  {
    code: /5\.7\.139$/,
    when: /security defaults|basic auth|is disabled|did not meet the criteria/,
    means: 'auth_required',
  },
  { code: /5\.7\.30$/, when: /basic auth/, means: 'auth_required' },
  { code: /5\.7\.3$/, when: /cannot achieve exchange server authentication/, means: 'auth_failed' },
  { code: /5\.7\.(?:64|0)$/, when: /tenantattribution/, means: 'relay_denied' },
  { code: /5\.7\.1$/, when: /^(?:smtp; )?client was not authenticated/, means: 'auth_required' },
  { code: /5\.7\.51$/, when: /restrictdomainsto/, means: 'relay_policy' },
  // The domain that sends.
  { code: /5\.7\.(?:509|515)$/, means: 'sender_reputation' },
  {
    when: /(?:mailfrom|helo) domain is listed in spamhaus/,
    also: /mailfrom/,
    means: 'sender_reputation',
  },
  // The machine that connects.
  { code: /5\.7\.(?:6[0-4]\d|507|511|513)$/, means: 'relay_reputation' },
  {
    code: /4\.7\.6\d\d$/,
    when: /number of connections|too many connections/,
    means: 'connection_limit',
  },
  { code: /4\.7\.(?:5\d\d|6\d\d|8[5-9]\d)$/, means: 'relay_reputation_later' },
  { code: /5\.7\.508$/, means: 'relay_limit' },
  { code: /5\.7\.506$/, means: 'protocol' },
  { code: /5\.7\.510$/, means: 'recipient_policy' },
  { code: /5\.7\.512$/, means: 'message_syntax' },
  { when: /\b(?:ou-00\d|sc-00\d|dy-001)\b/, means: 'relay_reputation' },
  { when: /\brp-001\b.*rate limit/, means: 'relay_limit' },
  { when: /\brp-002\b.*connection limit/, means: 'connection_limit' },
  { when: /\b(?:rp-00\d)\b/, means: 'relay_reputation_later' },
  { when: /\bdy-002\b/, means: 'content_refused' },
  {
    when: /part of their network is on our block list|\(s3\d{3}\)/,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  // The recipient.
  { code: /5\.7\.(?:12|124|13[3-6]|9\d\d)$/, means: 'recipient_policy' },
  { code: /5\.7\.13$/, when: /public ?folder/, means: 'recipient_policy' },
  { code: /5\.7\.50[45]$/, means: 'recipient_unknown' },
  { code: /5\.2\.12[12]$/, means: 'temporary_recipient' },
  { code: /5\.1\.(?:10|351)$/, not: /mail ?from|sender/, means: 'recipient_unknown' },
  {
    code: /5\.4\.1$/,
    when: /recipient address(?:es)? rejected\s?: access denied/,
    means: 'recipient_unknown',
  },
  { code: /5\.4\.310$/, means: 'recipient_unknown' },
  { code: /[45]\.(?:4\.31[26-9]|7\.32[1-5]|4\.8)$/, means: 'temporary_recipient' },
  {
    code: /^451 4\.4\.(?:62|4)$/,
    when: /region|mail-enabled subscriptions/,
    means: 'temporary_local',
  },
  {
    when: /certificate-(?:host-mismatch|expired)|(?:tlsa|dnssec)-invalid|starttls-not-supported/,
    means: 'temporary_recipient',
  },
  { when: /recipient thread limit/, means: 'temporary_recipient' },
  { when: /resolver\.adr\.\w{0,24}notfound/, means: 'recipient_unknown' },
  { when: /resolver\.rst\.(?:recip|send)sizelimit/, means: 'too_large_for_recipient' },
  {
    when: /resolver\.(?:rst|grp)\.|transport\.rules\.reject|restricted to recipients/,
    means: 'recipient_policy',
  },
  {
    when: /storedrv.{0,60}(?:quotaexceeded|mailbox ?full|full)/,
    not: /\bdisk is full|system (?:is )?full/,
    code: /^(?!\d{3} [45]\.3\.)/,
    means: 'mailbox_full',
  },
  { when: /storedrv.{0,60}disabled/, means: 'recipient_disabled' },
  { code: /5\.2\.1$/, when: /mailbox cannot be accessed/, means: 'recipient_disabled' },
  { code: /5\.2\.1$/, when: /content filter agent/, means: 'content_refused' },
  // The message. MAPI names the property that is too large.
  {
    when: /max ?(?:submission|attachment) ?exceeded|message(?:submission)?(?:exceeded|toobig|toolarge)/,
    means: 'message_too_large',
    at4xx: 'message_later',
  },
  { code: /5\.4\.1[14]$/, means: 'message_other' },
  { code: /5\.0\.350$/, when: /header is too long/, means: 'message_syntax' },
  { code: /5\.6\.11$/, means: 'message_syntax' },
];
