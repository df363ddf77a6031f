import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  EMAIL_CHARS_MAX,
  EmailAddress,
  isSameEmail,
  normaliseEmail,
  readEmail,
} from '../../src/base/email_address.ts';

test.each([
  ['ann@example.com', 'ann@example.com'],
  ['  ann@example.com\n', 'ann@example.com'],
  ['Ann.Lee+tag@Example.COM', 'Ann.Lee+tag@example.com'],
  ["o'brien@example.com", "o'brien@example.com"],
  ['ann@müller.de', 'ann@xn--mller-kva.de'],
  ['ann@sub.sub.example.co.uk', 'ann@sub.sub.example.co.uk'],
])('%j is an address: the domain in ASCII, the rest as it was written', (text, address) => {
  expect(readEmail(text)).toBe(address);
});

test('a domain whose last label is not Latin is an address too', () => {
  expect(readEmail('ann@пример.рф')).toBe('ann@xn--e1afmkfd.xn--p1ai');
});

test('the signs that RFC 5321 allows before the @ are allowed', () => {
  for (const sign of '!#$%&*/=?^`{|}~')
    expect(readEmail(`a${sign}b@example.com`)).toBe(`a${sign}b@example.com`);
});

test.each([
  '',
  'ann',
  '@example.com',
  'ann@',
  'ann@localhost',
  'ann@@example.com',
  'a@b@example.com',
  'ann@example..com',
  '.ann@example.com',
  'ann lee@example.com',
  'ann@exam ple.com',
  'Ann <ann@example.com>',
  'ann@example.com, bob@example.com',
  'ann@example.com\r\nBcc: bob@example.com',
  'ann\n@example.com',
  'ann@[127.0.0.1]',
  'ann@127.0.0.1',
  'ann@0x7f.1',
  'ann\0@example.com',
])('%j is no address', (text) => {
  expect(readEmail(text)).toBeNull();
});

test.each([null, undefined, 1, true, {}, ['ann@example.com'], { toString: () => 'a@b.de' }])(
  '%j is no address, because it is no text',
  (value) => {
    expect(readEmail(value)).toBeNull();
  },
);

test('an address has at most 254 characters', () => {
  const address = (last: number) =>
    `${'a'.repeat(64)}@${'d'.repeat(61)}.${'d'.repeat(61)}.${'d'.repeat(last)}.com`;
  expect(address(61)).toHaveLength(EMAIL_CHARS_MAX);
  expect(EmailAddress.safeParse(address(61)).success).toBe(true);
  expect(EmailAddress.safeParse(address(62)).success).toBe(false);
});

test('before the @ there are at most 64 characters', () => {
  expect(readEmail(`${'a'.repeat(64)}@example.com`)).not.toBeNull();
  expect(readEmail(`${'a'.repeat(65)}@example.com`)).toBeNull();
});

test('what is too long only after its domain was put in ASCII is no address', () => {
  const wide = `ann@${`${'ü'.repeat(20)}.`.repeat(11)}de`;
  expect(wide.length).toBeLessThanOrEqual(EMAIL_CHARS_MAX);
  expect(readEmail(wide)).toBeNull();
});

test('one mailbox has one form to compare, however it was written', () => {
  for (const text of ['ANN@MÜLLER.DE', ' ann@xn--mller-kva.de ', 'Ann@Müller.de'])
    expect(normaliseEmail(text)).toBe('ann@xn--mller-kva.de');
});

test('normalising twice is as once, for any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string()), (text) => {
      expect(normaliseEmail(normaliseEmail(text))).toBe(normaliseEmail(text));
    }),
  );
});

test('an address that was read is read again as itself', () => {
  fc.assert(
    fc.property(fc.emailAddress(), (text) => {
      const address = readEmail(text);
      if (address !== null) expect(readEmail(address)).toBe(address);
    }),
  );
});

test.each([
  'a@example.test?cc=x',
  'a@evil.test/foo',
  'a@evil.test#x',
  'a@evil.test\\x',
  'a@evil.test?',
  'a@evil%2etest',
  'a@ev\til.test',
])('%j is no address, and none is read out of it', (text) => {
  expect(readEmail(text)).toBeNull();
});

test.each([
  ['Ann@Shop.test', ' ann@shop.TEST', true],
  ['ann@shop.test', 'bob@shop.test', false],
  [null, 'ann@shop.test', false],
  ['ann@shop.test', null, false],
  [null, null, false],
])('%s and %s are the same address: %s', (one, other, isSame) => {
  expect(isSameEmail(one, other)).toBe(isSame);
});
