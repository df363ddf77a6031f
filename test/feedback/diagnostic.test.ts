// What a reply of a host says about its recipient, and how hard that makes a bounce.
import { describe, expect, test } from 'vitest';
import { classifyDiagnostic, judgeBounce } from '../../src/feedback/diagnostic.ts';

describe('a reply that says of its recipient', () => {
  test.each([
    '550 5.1.1 <ann@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
    'smtp; 550 5.1.1 user unknown',
    '550-5.1.1 The email account that you tried to reach does not exist.\r\n550 5.1.1 Learn more',
    '550 5.7.1 No such user!',
    '550 No such mailbox here',
    '550 5.4.1 Recipient address rejected: Access denied',
    '550 5.1.2 Host or domain name not found',
    '550 5.2.1 The account is disabled',
    '525 5.7.13 Disabled recipient address',
    '550 Mailbox is frozen. See http://mail.example/err/3/',
    '554 delivery error: This mailbox is disabled (554.30)',
    '554 This user doesn’t have an account: no such user',
    '550 5.1.6 recipient no longer on server: ann@example.net',
    '556 domain does not accept mail',
    '5.4.4 Host or domain name not found. Name service error for name=nowhere.test type=MX: Host not found',
    'Host or domain name not found',
    'Unrouteable address',
    '521',
    '(#5.1.1)',
    // Words of an address are no words of the reply.
    '550 5.1.1 <spam.policy@example.net>: user unknown',
  ])('that it is gone is hard: %s', (text) => {
    expect(classifyDiagnostic(text)).toBe('hard');
  });

  test.each([
    '452 4.2.2 mailbox full',
    '552 5.1.1 <ann@example.net> recipient rejected: over quota',
    '552 5.2.2 The account that you tried to reach is over quota and inactive',
    '450 4.2.1 The user is receiving mail at a rate that prevents delivery',
    '450 4.2.0 greylisted: please retry after some time',
    '451 4.1.1 user unknown, the directory is away',
    '421 4.4.1 Connection timed out',
    '4.4.3 Host or domain name not found. Name service error: Host not found, try again',
    'Host or domain name not found, try again',
    'retry timeout exceeded',
    '550 5.2.1 This mailbox is not accepting messages at this time',
    // The words outweigh the code of a missing mailbox.
    '550 5.1.1 Mailbox space not enough (space limit is 10240KB)',
    '550 5.1.1 That was the last one for today, 1000 of 1000',
    '552',
  ])('that it takes no email now is soft: %s', (text) => {
    expect(classifyDiagnostic(text)).toBe('soft');
  });

  test.each([
    '550 5.7.1 Message rejected due to local policy',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    '550 5.7.26 This email is unauthenticated: SPF and DKIM did not pass',
    '550 5.1.8 <hello@mail.shop.test>: Sender address rejected: Domain not found',
    '553 Domain of sender address does not exist',
    '550 5.1.0 Sender address rejected: User unknown in virtual mailbox table',
    '554 5.6.0 Message content rejected as spam',
    '552 5.3.4 Message size exceeds fixed limit',
    '550 5.4.5 Daily user sending limit exceeded',
    '554 5.7.1 <ann@example.net>: Relay access denied',
    '550 mailbox unavailable: reject due to reputation',
    '521 Command line too long',
    '550 Administrative prohibition',
    '5.7.1',
  ])('nothing, but of another cause, is not of the recipient: %s', (text) => {
    expect(classifyDiagnostic(text)).toBe('not_of_recipient');
  });

  test.each([
    null,
    '',
    '550 5.5.0 Requested action not taken: mailbox unavailable.',
    '550 mailbox unavailable',
    '554 Transaction failed',
    '5.0.0',
    'tried 521 times',
    'refused by 192.5.1.1',
  ])('nothing at all is unsaid: %s', (text) => {
    expect(classifyDiagnostic(text)).toBe('unsaid');
  });
});

test.each([
  ['hard', null, 'hard'],
  ['hard', '550 mailbox unavailable', 'hard'],
  ['hard', '550 5.1.1 user unknown', 'hard'],
  ['hard', '552 5.2.2 over quota', 'soft'],
  ['hard', '550 5.7.1 policy', 'block'],
  ['soft', null, 'soft'],
  ['soft', '550 5.1.1 user unknown', 'soft'],
  ['soft', '554 spam', 'block'],
  ['block', '550 5.1.1 user unknown', 'block'],
  ['undetermined', '550 5.1.1 user unknown', 'undetermined'],
  [null, '550 5.1.1 user unknown', 'hard'],
  [null, '552 5.2.2 over quota', 'soft'],
  [null, '554 spam', 'block'],
  [null, '550 mailbox unavailable', 'soft'],
  [null, null, 'soft'],
] as const)('a bounce that is called %s, with %s, is %s', (said, text, expected) => {
  expect(judgeBounce(said, text)).toBe(expected);
});

describe('"mailbox unavailable" of Outlook.com', () => {
  const alone =
    '5.5.0 550 Requested action not taken: mailbox unavailable (1171782072:1364:-2147467259)';

  test.each(['ann@hotmail.com', 'ann@live.se', 'ann@outlook.com.br'])('is hard: %s', (to) => {
    expect(classifyDiagnostic(alone, { to })).toBe('hard');
    expect(judgeBounce(null, alone, { to })).toBe('hard');
  });

  test.each([
    ['of another host', alone, 'ann@example.net'],
    ['of a host with a similar name', alone, 'ann@nothotmail.com'],
    [
      'that goes on',
      '550 Requested action not taken: mailbox unavailable for reasons of ours',
      'ann@hotmail.com',
    ],
    ['that passes', alone.replace('550', '450').replace('5.5.0', '4.5.0'), 'ann@hotmail.com'],
  ])('is not hard %s', (_, text, to) => {
    expect(judgeBounce(null, text, { to })).not.toBe('hard');
  });
});

test('a text of any length is judged at once', () => {
  for (const text of ['a '.repeat(50_000), '<'.repeat(50_000), 'user '.repeat(20_000)]) {
    const begun = performance.now();
    classifyDiagnostic(text);
    expect(performance.now() - begun).toBeLessThan(1_000);
  }
});
