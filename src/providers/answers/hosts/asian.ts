import type { Rule } from '../rules/rule.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/** NetEase (163.com, 126.com, yeah.net) and Coremail name the cause in two parts: `MI:SFQ`. */
const NETEASE_RULES: readonly Rule[] = [
  { when: /\bhl:(?:icc|ifc)\b/, also: /icc/, means: 'connection_limit' },
  { when: /\bhl:ifc\b/, means: 'relay_limit' },
  { when: /\bhl:(?:rep|mep|ihu|ipb|itc)\b|\b(?:dt|mi):rbl\b/, ...BY_CLASS },
  { when: /\b(?:mi|rp):(?:cel|ccl)\b|\bmi:dmc\b|\brp:(?:drc|trc)\b/, means: 'connection_limit' },
  { when: /\bmi:(?:sfq|stc|qrc)\b|\brp:(?:qrc|rcl|trl)\b/, means: 'sender_limit' },
  { when: /^user has no permission/, at: ['mail', 'data', 'body'], means: 'account_suspended' },
  { when: /\bmi:nhd\b/, means: 'protocol' },
  { when: /\bmi:imf\b/, means: 'sender_syntax' },
  { when: /\bmi:(?:spf|dma)\b/, means: 'sender_reputation' },
  { when: /\bdt:sum\b/, means: 'sender_not_allowed' },
  { when: /\bdt:spm\b/, means: 'content_refused', at4xx: 'content_later' },
  { when: /\brp:frl\b/, means: 'recipient_policy' },
  { when: /\brp:rdn\b/, means: 'relay_reputation' },
  { when: /\bwm:bl[iu]\b/, ...BY_CLASS },
  // `Hangup` is its word for an account or a machine that is suspended.
  { when: /^user (?:is )?hang ?up/, at: ['rcpt'], code: /^5/, means: 'recipient_disabled' },
  { when: /^ip (?:is )?hang ?up/, ...BY_CLASS },
];

/** Alibaba Cloud DirectMail ends its replies with a number: `[@sm070203]`. */
const DIRECT_MAIL_RULES: readonly Rule[] = [
  { code: /^436/, when: /authentication/, means: 'sender_not_allowed' },
  { code: /^504/, when: /invalid setting/, means: 'message_syntax' },
  { code: /^556/, when: /rcpts? is over/, means: 'message_later' },
  { code: /^557/, when: /data content/, means: 'message_too_large' },
  { code: /^(?:559|563)/, when: /rcptto/, means: 'recipient_unknown' },
];

/** Hosts in Asia. */
export const ASIAN_RULES: readonly Rule[] = [
  ...NETEASE_RULES,
  ...DIRECT_MAIL_RULES,
  // Zoho.
  { when: /mailbox delivery restricted by policy/, means: 'recipient_policy' },
  // Tencent QQ and Exmail.
  { when: /^mailbox unavailable or access den/, means: 'temporary_recipient' },
  { when: /\bip frequency limited/, means: 'relay_limit' },
  { when: /\bdomain frequency limited/, means: 'sender_limit' },
  { when: /connection frequency limited/, means: 'connection_limit' },
  { when: /suspected (?:spam ip|bounce attacks?)|^connection denied/, ...BY_CLASS },
  { when: /^suspected spam/, means: 'sender_reputation' },
  { when: /bad address syntax/, code: /^501/, means: 'recipient_unknown' },
  // Sohu.
  { code: /^553/, when: /content rejc?t/, means: 'content_refused' },
  { code: /^553/, when: /heloip reject/, means: 'protocol' },
  // NTT Docomo.
  { when: /^too much mail data/, code: /^552/, means: 'mailbox_full' },
];
