import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { KEY_KINDS } from '../../src/base/caller.ts';
import { Keys } from '../../src/base/keys.ts';
import { isIssuedToken, makeToken, readTokenKind } from '../../src/projects/token.ts';
import { makeUpKey, strangersKeys } from '../support/made_up_key.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIXES = {
  publishable: 'svc_pub_live_',
  server: 'svc_secret_live_',
  hook: 'svc_hook_live_',
} as const;

describe.each(KEY_KINDS)('a %s token', (kind) => {
  test('says its kind, and has 33 characters behind its prefix', () => {
    const token = makeUpKey(kind);
    expect(token.startsWith(PREFIXES[kind])).toBe(true);
    expect(token.slice(PREFIXES[kind].length)).toMatch(/^[0-9A-Za-z]{33}$/);
    expect(readTokenKind(token)).toBe(kind);
  });

  test('is refused after any single character has changed', () => {
    const token = makeUpKey(kind);
    for (let at = 0; at < token.length; at += 1)
      for (const other of `${BASE62}_-. é`) {
        if (other === token[at]) continue;
        expect(readTokenKind(token.slice(0, at) + other + token.slice(at + 1))).toBeNull();
      }
  });

  test('is refused with a character less, more, or in front', () => {
    const token = makeUpKey(kind);
    for (let at = 0; at < token.length; at += 1)
      expect(readTokenKind(token.slice(0, at) + token.slice(at + 1))).toBeNull();
    for (const more of [...BASE62.split(''), ' ', '\n', '\0']) {
      expect(readTokenKind(token + more)).toBeNull();
      expect(readTokenKind(more + token)).toBeNull();
    }
  });

  test('is refused under the prefix of another kind', () => {
    const token = makeUpKey(kind);
    const others = KEY_KINDS.filter((other) => other !== kind);
    for (const other of others)
      expect(readTokenKind(token.replace(PREFIXES[kind], PREFIXES[other]))).toBeNull();
  });

  test('is refused with two neighbours swapped', () => {
    const token = makeUpKey(kind);
    for (let at = PREFIXES[kind].length; at < token.length - 1; at += 1) {
      const swapped = `${token.slice(0, at)}${token[at + 1]}${token[at]}${token.slice(at + 2)}`;
      if (swapped !== token) expect(readTokenKind(swapped)).toBeNull();
    }
  });
});

test.each(KEY_KINDS)('a %s token shows which service made it', (kind) => {
  const token = makeToken(kind, strangersKeys);
  expect(isIssuedToken(strangersKeys, token)).toBe(true);
  for (let at = 0; at < 100; at += 1)
    expect(isIssuedToken(strangersKeys, makeToken(kind, new Keys(randomBytes(32))))).toBe(false);
});

test('no two tokens are alike, and every character of the alphabet is used', () => {
  const tokens = Array.from({ length: 500 }, () => makeUpKey('server'));
  expect(new Set(tokens).size).toBe(500);
  const used = new Set(tokens.join('').replaceAll(PREFIXES.server, ''));
  expect([...used].toSorted().join('')).toBe(BASE62);
});

test.each([
  '',
  'svc_',
  'svc_secret_live_',
  'svc_secret_live_x',
  'Bearer x',
  'svc_secret_live_'.repeat(1_000),
])('%j is no token', (text) => {
  expect(readTokenKind(text)).toBeNull();
});
