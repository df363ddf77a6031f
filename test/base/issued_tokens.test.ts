import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isIssued, issueToken } from '../../src/base/issued_tokens.ts';
import { Keys } from '../../src/base/keys.ts';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const keys = new Keys(randomBytes(32));

test('a token shows which service made it, its purpose and its account', () => {
  const token = issueToken(keys, 'device', 'ann@example.com');
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(isIssued(keys, 'device', token, 'ann@example.com')).toBe(true);
  expect(isIssued(keys, 'device', token, 'bob@example.com')).toBe(false);
  expect(isIssued(keys, 'device', token)).toBe(false);
  expect(isIssued(keys, 'session', token, 'ann@example.com')).toBe(false);
  expect(isIssued(new Keys(randomBytes(32)), 'device', token, 'ann@example.com')).toBe(false);
});

test('a kind and a holder cannot be moved into each other', () => {
  const token = issueToken(keys, 'device', 'x session y');
  expect(isIssued(keys, 'session', token, 'y')).toBe(false);
});

test('a token has one spelling: any other character at any place makes it none', () => {
  const token = issueToken(keys, 'session');
  for (let at = 0; at < token.length; at += 1)
    for (const other of BASE64URL)
      if (other !== token[at])
        expect(isIssued(keys, 'session', token.slice(0, at) + other + token.slice(at + 1))).toBe(
          false,
        );
});

test('no two tokens are alike', () => {
  const tokens = new Set(Array.from({ length: 1_000 }, () => issueToken(keys, 'session')));
  expect(tokens.size).toBe(1_000);
});

test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44), '€'.repeat(43), `${'A'.repeat(42)}=`])(
  '%j is no token',
  (text) => {
    expect(isIssued(keys, 'session', text)).toBe(false);
  },
);
