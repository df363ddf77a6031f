import { anyOf } from '../rules/pattern.ts';
import type { Rule } from '../rules/rule.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/** Mimecast's answers as its support page lists them. */
const MIMECAST_RULES: readonly Rule[] = [
  {
    when: /^internal resources? (?:is |are )?temporarily unavailable/,
    code: /^451/,
    means: 'greylisted_relay',
  },
  { when: /header.based anti-spoofing|anti-spoofing policy/, means: 'sender_spoofed' },
  {
    when: /manually blocked senders?|administrative prohibition|envelope blocked/,
    means: 'recipient_policy',
  },
  { when: /host network not allowed/, means: 'relay_reputation' },
  { when: /local ct ip reputation|poor reputation sender/, ...BY_CLASS },
  { when: /^open relay not allowed/, code: /^451/, means: 'not_hosted_here' },
  { when: /account inbounds? disabled/, means: 'temporary_recipient' },
  { when: /account outbounds? disabled/, means: 'account_suspended' },
  { when: /^account service is temporarily unavailable/, means: 'temporary_local' },
  { when: /^sender address blocked/, code: /^421/, means: 'relay_reputation_later' },
  { when: /^ip temporarily blacklisted/, means: 'relay_reputation_later' },
  {
    when: /journal messages? past the expiration|no secure connection/,
    also: /journal/,
    means: 'message_other',
  },
  { when: /^submitter failed to (?:authenticate|disable)/, means: 'auth_failed' },
];

/** Public lists: which text names them, and what about. */
const LIST_RULES: readonly Rule[] = [
  // Links that explain a failed SPF check, where the reply says no more.
  {
    when: /openspf\.(?:org|net|com)\/|spf\.pobox\.com/,
    not: /relay|no such|unknown|quota/,
    means: 'sender_reputation',
  },
  {
    when: anyOf(
      /uribl\S{0,40}.{0,60}query refused/,
      /spamhaus.{0,200}(?:open resolver|query refused|returnc|public resolver)/,
    ),
    means: 'temporary_local',
  },
  {
    when: /(?:having|contains?|presence of) (?:a )?(?:(?:black)?listed )?(?:domain|url|link) /,
    also: /dbl|surbl|uribl|spamhaus/,
    means: 'message_reputation',
  },
  {
    when: /\b(?:surbl|uribl)\b/,
    not: /client host|\bips?\b|query refused|helo|sender|from address/,
    at: ['body'],
    code: /^5/,
    means: 'content_refused',
  },
  {
    when: /gr[ae]y\.?rbl|gr[ae]y ?listing in action/,
    also: /client host|service unavailable/,
    means: 'greylisted_relay',
  },
  {
    when: new RegExp(
      '(?:sender|mail ?from|from|sending|your) (?:e-?mail )?(?:address|domain)' +
        '[^.]{0,60}(?:listed|blocked|spamhaus)',
    ),
    also: /spamhaus|blocked using|dbl|surbl/,
    not: /ip address/,
    means: 'sender_reputation',
  },
  {
    when: anyOf(
      /in an? (?:black|block) ?list (?:rbl|dnsbl|bl|zen|xbl|sbl)\./,
      /(?:deny|block|ban)(?:ned|ed)?[-_]?ip\.(?:php|asp|html?)/,
    ),
    ...BY_CLASS,
  },
  {
    when: anyOf(
      /spamhaus\.org|spamcop\.net|barracudacentral|b\.barracuda|barracudanetworks\.com\/reputation/,
      /sorbs\.net|cbl\.abuseat|uceprotect|psbl\.|invaluement|mailspike|senderscore|0spam|abusix/,
      /nixspam|manitu|hostkarma|junkemailfilter|csi\.cloudmark|cloudmark sender intelligence/,
    ),
    not: /\burl|\blink|\bin content|\bbody/,
    ...BY_CLASS,
  },
];

/** Services that filter email for others. */
export const FILTER_RULES: readonly Rule[] = [
  ...MIMECAST_RULES,
  ...LIST_RULES,
  { when: /ipcheck\.proofpoint|proofpoint\.com\/(?:dnsbl|ip)|prs\.proofpoint/, ...BY_CLASS },
  { when: /(?:new or )?untrusted ip/, ...BY_CLASS },
  // Barracuda.
  { when: /license expired/, code: /^422/, means: 'temporary_recipient' },
  {
    when: /permanent failure for one or more recipients \(.{0,80}:blocked\)/,
    means: 'content_refused',
  },
  { when: /policy rejection- abuse/, means: 'recipient_policy' },
  // Trend Micro: rules of the recipient.
  {
    when: /recipient address rejected: (?:no-domain|block-|ers-customized)/,
    means: 'recipient_policy',
  },
  // Symantec Email Security.cloud.
  { when: /requested action aborted \[\w{1,3}\]/, code: /^4/, means: 'temporary_local' },
];
