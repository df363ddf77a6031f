import type { Rule } from '../rules/rule.ts';

/** Relays that email is handed to, in words of their own. */
export const RELAY_HOST_RULES: readonly Rule[] = [
  // Amazon SES names the identities that it wants verified. In a sandboxed account that may be the
  // recipient alone: then nothing is wrong with the sender.
  { when: /identities failed the check .*@from(?:domain)?/, means: 'sender_not_allowed' },
  { when: /identities failed the check .*@to(?:domain)?/, means: 'account_sender' },
  // MailChannels judges the text under this mark.
  { when: /^\[cs\] message blocked/, at: ['body', 'data', 'any'], means: 'content_refused' },
  { when: /identities failed the check/, knowsFrom: true, means: 'account_sender' },
];
