// Words outweigh the codes beside them, and what stands behind a phrase of habit outweighs the phrase.
import { describe, expect, test } from 'vitest';
import type { SmtpPhase } from '../../../src/providers/answers/answers.ts';
import { classify } from './wordings.ts';

const CODES = ['550 5.1.1', '550 5.2.1', '553 5.1.2', '552 5.3.4', '554 5.6.0', '525 5.7.13'];

describe('whatever its code, a reply ends no send that speaks of', () => {
  test.each([
    ['a full mailbox', 'The mailbox is full', 'recipient/mailbox_full/later'],
    ['its storage', 'Mailbox space not enough', 'recipient/mailbox_full/later'],
    ['a limit', 'You have exceeded your hourly email limit', 'account/account_limit/later'],
    ['a count', 'Only 100 messages per day', 'account/account_limit/later'],
    [
      'a suspension',
      'Outgoing mail of your account is suspended',
      'account/account_suspended/after_fix',
    ],
    [
      'a sign-in',
      'To go on, please sign in to your account',
      'account/auth_required_or_policy/after_fix',
    ],
    ['relaying', 'Relay access denied', 'account/relay_denied/after_fix'],
    ['a block list', 'Email blocked by SPAMHAUS', 'relay/reputation_refused/after_fix'],
    [
      'the From field',
      'From header must end with @sender.example',
      'sender/sender_not_allowed/after_fix',
    ],
  ])('%s', (_, words, expected) => {
    for (const code of CODES) {
      for (const phase of ['rcpt', 'body'] as const) {
        expect(classify(`${code} ${words}`, phase), code).toBe(expected);
      }
    }
  });

  test.each([
    'Your plan does not include this',
    'Outbound services are off',
    'Verify at the portal: login needed',
    'Storage trouble',
    'No entry for this sender',
    'El servicio de envío no funciona',
  ])('another cause in unfamiliar words: %s', (words) => {
    for (const code of CODES)
      expect(classify(`${code} ${words}`, 'rcpt'), code).toMatch(/later|after_fix/);
  });
});

test('a code of a missing mailbox counts where the words name no other cause', () => {
  expect(classify('550 5.1.1 Some new wording', 'rcpt')).toBe('recipient/recipient_unknown/never');
});

describe('what follows a phrase of habit decides', () => {
  test.each<[string, SmtpPhase, string]>([
    ['550 5.7.1 Relay denied: exceeded 200 emails per hour', 'rcpt', 'account/account_limit/later'],
    [
      '450 4.7.1 <news@sender.example>: SASL login name rejected: You are sending too fast',
      'rcpt',
      'account/account_limit/later',
    ],
    [
      '553 5.7.1 Client host rejected: Relaying denied - your IP identified as spammer',
      'rcpt',
      'relay/reputation_refused/after_fix',
    ],
    [
      '451 4.3.0 Client host rejected: Throttled - too much spam from your server',
      'connect',
      'relay/reputation_refused/later',
    ],
    [
      '550 5.7.1 Client host rejected: 250 messages an hour are enough',
      'mail',
      'account/account_limit/later',
    ],
  ])('%s', (reply, phase, expected) => {
    expect(classify(reply, phase)).toBe(expected);
  });
});

describe("words of the sender's side are not taken from what is said of another", () => {
  test.each<[string, SmtpPhase, string]>([
    [
      '550 5.2.1 The user has not signed in to this account for 12 months, so it was closed',
      'rcpt',
      'recipient/recipient_disabled/never',
    ],
    [
      '554 5.7.1 Sending of executable attachments is disabled',
      'body',
      'message/content_refused/never',
    ],
    [
      '450 4.2.1 This address receives more than 60 messages per minute, slow down',
      'rcpt',
      'recipient/temporary_recipient/later',
    ],
    ['554 5.6.0 The From header must not be empty', 'body', 'message/line_or_syntax/never'],
    [
      '550 5.2.1 Recipient account suspended for non payment',
      'rcpt',
      'recipient/recipient_disabled/never',
    ],
    [
      '552 5.2.2 Recipient exceeded the quota of his subscription plan',
      'rcpt',
      'recipient/mailbox_full/later',
    ],
  ])('%s', (reply, phase, expected) => {
    expect(classify(reply, phase)).toBe(expected);
  });
});
