// Identical answers about different recipients look the same; different ones do not.
import { describe, expect, test } from 'vitest';
import { normalizeReply } from '../../../src/providers/answers/answers.ts';

describe('the normal form', () => {
  test('keeps the codes and the words', () => {
    expect(normalizeReply('550 5.1.1 <bob@example.net>: Recipient address rejected')).toBe(
      '550 5.1.1 @addr : recipient address rejected',
    );
  });

  test.each([
    [
      'addresses',
      '550 5.1.1 <bob@example.net>: User unknown',
      '550 5.1.1 <eve.smith+1@other.example>: User unknown',
    ],
    [
      'IPs',
      '421 4.7.28 [192.0.2.1 12] unusual rate of mail',
      '421 4.7.28 [2001:db8::1 7] unusual rate of mail',
    ],
    [
      'hosts',
      '421 4.3.2 mx1.example.org too many sessions',
      '421 4.3.2 mx22.mail.example.com too many sessions',
    ],
    ['URLs', '554 See https://a.example/?ip=192.0.2.1&c=hi', '554 See http://b.example/help'],
    [
      'session ids',
      '550 5.7.1 blocked d2e1a72fcca58-76e7d551493sm9728466b3a.51 - gsmtp',
      '550 5.7.1 blocked 4-20020a056000154400b00203812ca383sm10857871wry.78 - gsmtp',
    ],
    [
      'times and numbers',
      '451 4.7.1 Greylisted, try again in 300 seconds 2026-10-01T10:00:00Z',
      '451 4.7.1 Greylisted, try again in 12 seconds 2026-11-12T23:59:59Z',
    ],
    ['case', '550 USER UNKNOWN', '550 User Unknown'],
    ['line ends', '550-One\r\n550 Two', '550-One\n550 Two'],
  ])('is the same with other %s', (_, one, other) => {
    expect(normalizeReply(one)).toBe(normalizeReply(other));
  });

  test.each([
    ['codes', '550 5.1.1 User unknown', '450 4.1.1 User unknown'],
    ['enhanced codes', '550 5.1.1 Rejected', '550 5.7.1 Rejected'],
    ['words', '550 5.7.1 Relay denied', '550 5.7.1 Message refused'],
  ])('differs with other %s', (_, one, other) => {
    expect(normalizeReply(one)).not.toBe(normalizeReply(other));
  });

  test('is the same again when it is normalized again', () => {
    const once = normalizeReply(
      '550-5.7.1 [192.0.2.1] Our system\r\n550 5.7.1 says no to bob@a.example',
    );
    expect(normalizeReply(once)).toBe(once);
  });

  test('is bounded, and empty for nothing', () => {
    expect(normalizeReply('550 '.concat('word '.repeat(300)))).toHaveLength(300);
    expect(normalizeReply('')).toBe('');
  });
});
