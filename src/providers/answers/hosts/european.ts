import type { Rule } from '../rules/rule.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/** Orange, Wanadoo and La Poste end their replies with a number: `OFR004_405`, `LPN007_102`. */
const FRENCH_RULES: readonly Rule[] = [
  {
    when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:102|103|108|506|630|999)\b/,
    code: /^4|^521|^550 5\.5\.0|^554|^550 $/,
    ...BY_CLASS,
  },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:506|510|513)\b/, means: 'content_refused' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:104|105)\b/, means: 'connection_limit' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_305\b/, means: 'auth_failed' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:401|402|517)\b/, means: 'sender_reputation' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:403|405|415)\b/, means: 'sender_dns' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_416\b/, means: 'recipient_unknown' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_417\b/, means: 'mailbox_full' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_(?:420|426)\b/, means: 'recipient_disabled' },
  { when: /\b(?:ofr|lpn|ouk)\w{0,8}_514\b/, means: 'message_too_large' },
];

/** GMX, web.de, mail.com and IONOS: the letter in the link, or the words in parentheses. */
const UNITED_INTERNET_RULES: readonly Rule[] = [
  { code: /^4/, when: /reject due to policy violations/, means: 'relay_reputation_later' },
  { when: /failure sending mail\. try again later/, means: 'account_limit' },
  {
    when: /[&?;]c=(?:hi|hd|hc|hu)\b|policy restrictions \(header based\)/,
    means: 'content_refused',
  },
  { when: /policy restrictions \(domain based\)/, means: 'sender_reputation' },
  { when: /policy restrictions \(ip based\)/, means: 'relay_reputation' },
  { when: /mailbox unavailable reject due to policy restrictions/, means: 'relay_reputation' },
  { when: /- a problem occurred.{0,120}\(bl\)/, means: 'relay_reputation' },
];

/** SimpleLogin numbers its answers: `SL E504`. */
const SIMPLELOGIN_RULES: readonly Rule[] = [
  { when: /^sl e(?:502|508|510|515|516|521)\b/, code: /^5/, means: 'recipient_unknown' },
  { when: /^sl e(?:504|518)\b/, code: /^5/, means: 'recipient_disabled' },
  { when: /^sl e(?:506|519)\b/, at: ['data', 'body'], code: /^5/, means: 'content_refused' },
  { when: /^sl e(?:514|517|520|524)\b/, code: /^5/, means: 'recipient_policy' },
  { when: /^sl e522\b/, means: 'temporary_recipient' },
];

/** Hosts in Europe and Russia. */
export const EUROPEAN_RULES: readonly Rule[] = [
  ...SIMPLELOGIN_RULES,
  ...FRENCH_RULES,
  ...UNITED_INTERNET_RULES,
  // Yandex.
  { when: /under suspicion of spam/, means: 'content_after_fix' },
  { when: /blocked by spam statistics/, means: 'account_paused' },
  // Hostpoint.
  { when: /mx do not point to us/, means: 'not_hosted_here' },
  // i.ua numbers its replies in a link.
  { when: /i\.ua\/err\/2\b/, means: 'recipient_unknown' },
  { when: /i\.ua\/err\/3\b/, means: 'recipient_disabled' },
  { when: /i\.ua\/err\/4\b/, means: 'mailbox_full' },
  { when: /i\.ua\/err\/5\b/, means: 'account_limit' },
  { when: /i\.ua\/err\/8\b/, means: 'sender_dns' },
  { when: /i\.ua\/err\/9\b/, means: 'relay_reputation' },
  // Rambler, with a code of its own.
  {
    code: /^540/,
    when: /recipient address rejected: (?:inactive|blocked)/,
    means: 'recipient_disabled',
  },
  { when: /^rate limit exceeded/, code: /^452 4\.5\.3/, means: 'relay_limit' },
];
