import { anyOf } from '../rules/pattern.ts';
import type { Rule } from '../rules/rule.ts';

/**
 * Gmail and Google Workspace name the cause in the link of the last line (`p=NoSuchUser`).
 * Source: support.google.com/a/answer/3726730 (Gmail SMTP errors and codes).
 */
export const GMAIL_RULES: readonly Rule[] = [
  // The mailbox.
  { when: /p=nosuchuser/, means: 'recipient_unknown', at4xx: 'temporary_recipient' },
  { when: /p=disableduser/, means: 'recipient_disabled' },
  { when: /p=overquotaperm/, means: 'mailbox_full_for_good' },
  { when: /p=overquota/, means: 'mailbox_full' },
  { when: /p=receivingrate/, means: 'temporary_recipient' },
  {
    when: /user you are trying to contact is receiving mail|rate that prevents additional/,
    means: 'temporary_recipient',
  },
  {
    when: /(?:is not a valid rfc.?5321 address|able to find the recipient domain)/,
    code: /5\.1\.[23]$/,
    means: 'recipient_unknown',
  },
  { when: /is not a valid rfc.?5321 address/, code: /5\.1\.7$/, means: 'sender_syntax' },
  // The account that sends.
  { code: /^[45]5\d [45]\.4\.5$/, when: /daily|sending|relay|limit|quota/, means: 'account_limit' },
  {
    when: /(?:smtp relay (?:sending )?limit exceeded|relay limit exceeded for)/,
    means: 'account_limit',
  },
  { when: /not in whitelist for rcpt domain/, means: 'auth_required' },
  { when: /(?:mail relay denied|invalid credentials for relay)/, means: 'relay_denied' },
  { code: /5\.5\.3$/, when: /too many recipients for this sender/, means: 'account_limit' },
  { when: /mail sending denied/, means: 'account_suspended' },
  // The machine and the domain that send.
  { when: /p=unsolicitedmessageerror/, means: 'content_refused', at4xx: 'content_later' },
  {
    when: anyOf(
      /p=(?:unsolicitedip|unsolicitedratelimit|iprate)/,
      /unusual rate of (?:unsolicited )?mail/,
      /unsolicited mail originating from your (?:ip|spf domain|dkim domain|url)/,
    ),
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  { when: /p=notauthorizederror/, means: 'relay_reputation' },
  { when: /ipv6 sending guidelines regarding (?:ptr|authentication)/, means: 'relay_reputation' },
  { when: /very low reputation of the sending domain/, means: 'sender_reputation' },
  {
    when: /very low reputation of the sending ip/,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: /rate limited .{0,40}(?:unauthenticated|no dmarc alignment|spf|dkim)/,
    means: 'sender_reputation',
  },
  { code: /\.7\.29$/, when: /tls/, means: 'tls_required' },
  { code: /\.7\.30$/, when: /dkim/, means: 'sender_reputation' },
  { code: /\.7\.27$/, when: /spf/, means: 'sender_reputation' },
  // The message.
  { when: /policy size per transaction exceeded/, means: 'message_later' },
  {
    when: /p=blockedmessage|potential security issue|nature of the content/,
    means: 'content_refused',
    at4xx: 'content_later',
  },
  { when: /answer\/6590|answer=6590/, means: 'content_refused' },
  { when: /p=rfcmessagenoncompliant/, means: 'message_syntax' },
  { when: /policy that prohibited/, means: 'recipient_policy' },
  { when: /violates \S{1,253} email policy|- gcdp /, means: 'recipient_policy' },
  // Log-in.
  { when: /p=wantautherror/, means: 'auth_required' },
  { when: /p=badcredentials/, means: 'auth_failed' },
  // The password is right, and the account wants another way to log in.
  { when: /p=(?:invalidsecondfactor|weblog)/, means: 'auth_required' },
  { when: /too many login attempts/, means: 'login_limit' },
  {
    code: /^451 4\.3\.0$/,
    when: /temporarily rejected (?:this )?message/,
    means: 'temporary_local',
  },
];
