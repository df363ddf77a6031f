// What decides where words, codes and phases say different things.
import { describe, expect, test } from 'vitest';
import { classifySmtpReply } from '../../../src/providers/answers/answers.ts';
import type { SmtpAnswer } from '../../../src/providers/answers/answers.ts';

const spell = (answer: SmtpAnswer): string => {
  const { scope, meaning, retry } = classifySmtpReply(answer);
  return `${scope}/${meaning}/${retry}`;
};

const at = (phase: SmtpAnswer['phase'], reply: string): string => spell({ phase, reply });

describe('the scope comes before the permanence', () => {
  test.each([
    '550 5.4.5 Daily user sending limit exceeded.',
    '554 5.7.0 Your message could not be sent. The limit on the number of allowed outgoing messages was exceeded.',
    '550 5.7.1 <bob@example.net>: Recipient address rejected: Throttling quota exceeded',
    '550-Requested action not taken: mailbox unavailable\r\n550 Failure sending mail. Try again later',
  ])('a limit of the account stays one in a 5xx: %s', (reply) => {
    expect(at('rcpt', reply)).toBe('account/account_limit/later');
  });

  test.each([
    ['421 Account restricted: sandbox, use authorized recipients', 'account/sender_not_allowed'],
    ['454 4.7.1 <bob@example.net>: Relay access denied', 'account/relay_denied'],
    ['451 Authentication failed: Could not authenticate', 'account/auth_failed'],
  ])('time does not help where a 4xx asks for a change: %s', (reply, meaning) => {
    expect(at('rcpt', reply)).toBe(`${meaning}/after_fix`);
  });
});

describe('"mailbox unavailable" means what the last line says', () => {
  test.each([
    ['550 Requested action not taken: mailbox unavailable', 'recipient/recipient_unknown/never'],
    [
      '550-Requested action not taken: mailbox unavailable\r\n550 Sender address is not allowed.',
      'sender/sender_not_allowed/after_fix',
    ],
    [
      '550-Requested action not taken: mailbox unavailable\r\n' +
        '550-Reject due to policy restrictions.\r\n' +
        '550 For explanation visit https://postmaster.example.com/?c=hi',
      'message/content_refused/never',
    ],
    [
      '450 Requested mail action not taken: mailbox unavailable',
      'recipient/temporary_recipient/later',
    ],
  ])('%s', (reply, expected) => {
    expect(at('body', reply)).toBe(expected);
  });
});

describe('who is over a limit', () => {
  test.each([
    [
      '450-4.2.1 The user you are trying to contact is receiving mail too quickly.',
      'recipient/temporary_recipient/later',
    ],
    ['432 4.3.2 STOREDRV; recipient thread limit exceeded', 'recipient/temporary_recipient/later'],
    [
      '432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded',
      'account/connection_limit/later',
    ],
    ['550 Sender frequency limited.', 'sender/account_limit/later'],
    ['550 Sender rate overlimit - 41.0 / 1d', 'account/account_limit/later'],
    ['451 Sender rate exceeds 40 messages per 1d', 'account/account_limit/later'],
    [
      '421 4.7.0 mx.example.com Error: too many connections from 192.0.2.10',
      'connection/connection_limit/later',
    ],
    ['421 too many messages in this connection', 'connection/connection_limit/later'],
    ['552 5.2.2 <bob@example.net>: user is over quota', 'recipient/mailbox_full/later'],
  ])('%s', (reply, expected) => {
    expect(at('rcpt', reply)).toBe(expected);
  });
});

describe('the words of a policy server behind those of Postfix', () => {
  test.each([
    'Recipient address rejected: Policy Rejection- Daily quota exceeded.',
    'Recipient address rejected: Policy rejection; Message count quota exceeded',
    'Sender address rejected: Policy rejection; Message cumulative size quota exceeded',
    'Recipient address rejected: Quota exceeded',
  ])('a limit of the account, however it is denied: %s', (words) => {
    for (const code of ['450 4.7.1', '554 5.7.1'])
      expect(at('rcpt', `${code} <bob@example.net>: ${words}`)).toBe('account/account_limit/later');
  });

  test('a full mailbox stays one', () => {
    for (const reply of [
      '552 5.2.2 <bob@example.net>: Recipient address rejected: Quota exceeded',
      '554 5.7.1 <bob@example.net>: Recipient address rejected: Mailbox quota exceeded',
    ])
      expect(at('rcpt', reply)).toBe('recipient/mailbox_full/later');
  });

  test.each([
    '450 4.2.0 <bob@example.net>: Recipient address rejected: Greylisted, see https://postgrey.schweikert.ch',
    '451 192.0.2.10 is not yet authorized to deliver mail from <a@example.org> to <bob@example.net>. Please try later.',
  ])('greylisting makes one send wait: %s', (reply) => {
    expect(at('rcpt', reply)).toBe('recipient/greylisted/later');
  });
});

describe('an answer without a reason never ends a send', () => {
  test.each([
    '550 Rejected',
    '554 Transaction failed',
    '550',
    '599 4711',
    '550 5.0.0 Qwerty asdf',
    '571 Delivery error',
    '550 5.7.1 no thanks',
  ])('%s', (reply) => {
    for (const phase of ['mail', 'rcpt', 'data', 'body', 'any'] as const) {
      expect(classifySmtpReply({ reply, phase }).retry).not.toBe('never');
    }
  });

  test('nor does one before a recipient is named', () => {
    for (const phase of ['connect', 'ehlo', 'auth'] as const) {
      for (const reply of ['550 5.1.1 User unknown', '554 Mailbox disabled', '552 spam detected']) {
        expect(['recipient', 'message']).not.toContain(classifySmtpReply({ reply, phase }).scope);
      }
    }
  });

  test('a refusal at RCPT is not about text that was not sent yet', () => {
    expect(at('rcpt', '554 5.7.1 Rejected as spam')).toBe('relay/reputation_refused/after_fix');
    expect(at('body', '554 5.7.1 Rejected as spam')).toBe('message/content_refused/never');
  });
});

describe('the addresses of the send', () => {
  const ses = (identity: string): SmtpAnswer => ({
    reply:
      '554 Message rejected: Email address is not verified. ' +
      `The following identities failed the check in region EU-WEST-1: ${identity}`,
    phase: 'body',
    from: 'shop@example.org',
    to: 'bob@example.net',
  });

  test('show whose identity a relay does not know', () => {
    expect(spell(ses('shop@example.org'))).toBe('sender/sender_not_allowed/after_fix');
    expect(spell(ses('bob@example.net'))).toBe('account/sender_not_allowed/after_fix');
  });

  test('are never read as words, however they are called', () => {
    const reply = (to: string) => `550 5.1.1 <${to}>: Recipient address rejected`;
    const names = ['spam', 'mailbox-full', 'user.unknown', 'relay-denied', 'quota.exceeded'];
    for (const name of names) {
      const to = `${name}@limit-exceeded.blocked.example`;
      expect(spell({ phase: 'rcpt', reply: reply(to), to })).toBe(
        'recipient/recipient_unknown/never',
      );
    }
  });

  test('are known without their domain too, between quotes or brackets', () => {
    const reply = 'Requested mail action aborted: user "over-quota" is unknown';
    expect(spell({ phase: 'rcpt', reply: `550 ${reply}`, to: 'over-quota@example.net' })).toBe(
      'recipient/recipient_unknown/never',
    );
  });
});

test('Exim repeats at DATA why it took no recipient', () => {
  const said = (reason: string): string =>
    ['503-All RCPT commands were rejected with this error:', `503-${reason}`]
      .concat('503 Valid RCPT command must precede DATA')
      .join('\r\n');
  const scopeOf = (reply: string) => classifySmtpReply({ reply, phase: 'data' });
  expect(scopeOf(said('unknown user'))).toMatchObject({ meaning: 'recipient_unknown' });
  expect(scopeOf(said('your IP is listed'))).toMatchObject({ meaning: 'reputation_refused' });
  expect(scopeOf('503 Valid RCPT command must precede DATA')).toMatchObject({
    scope: 'connection',
  });
});

describe('codes', () => {
  test.each([
    ['550 5.1.1 Qwerty', 'recipient/recipient_unknown/never'],
    ['450 4.1.1 Qwerty', 'recipient/temporary_recipient/later'],
    ['552 5.2.2 Qwerty', 'recipient/mailbox_full/later'],
    ['554 5.7.8 Qwerty', 'account/auth_failed/after_fix'],
    ['5.7.10 Qwerty', 'connection/tls_required/after_fix'],
    ['538 Qwerty', 'connection/tls_required/after_fix'],
  ])('say what words do not: %s', (reply, expected) => {
    expect(at('any', reply)).toBe(expected);
  });

  test('the last line counts where lines differ', () => {
    const reply = '550-5.7.1 Your message\r\n550 5.1.1 Qwerty';
    expect(at('rcpt', reply)).toBe('recipient/recipient_unknown/never');
  });

  test('numbers of addresses, versions and sentences are no codes', () => {
    expect(at('any', '550 5.7.1 Qwerty 10.5.1.1 (Exim 4.5.1.1) 5.1.1.4')).toBe('relay/other/later');
  });
});

describe('how long to wait', () => {
  test.each([
    ['421 Domain example.org is not allowed to send: try again after 59m41s', 59 * 60],
    ['554 enabled in 341 seconds', 341],
    ['451 4.7.1 Greylisted, try again in 5 minutes', 300],
    ['450 Rate limit exceeded, retry in 2 hours', 7_200],
    ['450 Rate limit exceeded, retry in 400 days', 86_400],
  ])('is read from the words: %s', (reply, seconds) => {
    expect(classifySmtpReply({ phase: 'any', reply }).retryAfterSeconds).toBe(seconds);
  });

  test.each([
    '450 Rate limit exceeded',
    '451 retry in 0 seconds',
    '550 5.1.1 User unknown, retry in 5 minutes',
  ])('is left out where nothing is said, or time does not help: %s', (reply) => {
    expect(classifySmtpReply({ phase: 'any', reply })).not.toHaveProperty('retryAfterSeconds');
  });
});
