import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { makeUnsubscribeToken, readUnsubscribeToken } from '../../src/suppression/suppression.ts';
import type { UnsubscribeLink } from '../../src/suppression/suppression.ts';
import { signedToken } from './signed_token.ts';

const keys = new Keys(Buffer.alloc(32, 1));
/** One link as an email carried it before tokens were encrypted, and as an email carries it now. */
const SENT_BEFORE =
  'AQGYobIAAHAAgAASNFZ4kKsHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHB' +
  'wGYobIAAHAAgAAAAAAAvu-GN7ERXBcZDdIYyTy5U-iFT4r_mdrq5s2KSYM7v2g1UQ';
const SENT_TODAY =
  '-aljLKFpBcALCkFXqGAPYxNJA2f1tHmfWMwbL2mAoyBD8EFPo1QRVJ' +
  'zdx3m4CVg7BJKeLpl8I1H_oMAUqJXEUTLSLFodQNxJLLEJrJ6i6hsy';
const link = (): UnsubscribeLink => ({
  projectId: newId(),
  addressKey: randomBytes(32),
  sendId: newId(),
});
/** Of the two forms that there are, how each is made. */
const FORMS = [
  ['encrypted', (said: UnsubscribeLink) => makeUnsubscribeToken(keys, said)],
  ['signed, of emails from before', (said: UnsubscribeLink) => signedToken(keys, said)],
] as const;

test('a token reads back as its link, in letters that need no escaping anywhere', () => {
  for (let round = 0; round < 50; round += 1) {
    const said = link();
    const token = makeUnsubscribeToken(keys, said);
    expect(token).toMatch(/^[\w-]{108}$/);
    expect(readUnsubscribeToken(keys, token)).toEqual(said);
  }
});

test('the same link has the same token, in every process and at any time', () => {
  const said = link();
  expect(makeUnsubscribeToken(new Keys(Buffer.alloc(32, 1)), said)).toBe(
    makeUnsubscribeToken(keys, said),
  );
});

test('a recipient reads no id in a token, in whatever spelling', () => {
  const PIECE = 6;
  for (let round = 0; round < 200; round += 1) {
    const said = link();
    const token = makeUnsubscribeToken(keys, said);
    const bytes = Buffer.from(token, 'base64url');
    for (const id of [said.projectId, said.sendId]) {
      expect(token).not.toContain(id);
      const idBytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      for (let from = 0; from + PIECE <= idBytes.length; from += 1)
        expect(bytes.includes(idBytes.subarray(from, from + PIECE))).toBe(false);
    }
    expect(bytes.includes(said.addressKey.subarray(0, PIECE))).toBe(false);
  }
});

test('two tokens of one project, or of one address, share no prefix and no place', () => {
  const said = link();
  const TOKENS = 4_000;
  const tokens = Array.from({ length: TOKENS }, (_, nth) =>
    Buffer.from(
      makeUnsubscribeToken(
        keys,
        nth % 2 === 0 ? { ...said, sendId: newId() } : { ...link(), projectId: said.projectId },
      ),
      'base64url',
    ),
  );
  // Random 8 bytes meet among so many with a chance of 1 in 10^10.
  const PIECE = 8;
  for (let at = 0; at + PIECE <= 81; at += 1) {
    const pieces = new Set(tokens.map((token) => token.toString('hex', at, at + PIECE)));
    expect(pieces.size, `bytes from ${at}`).toBe(TOKENS);
  }
  // Every byte of a token takes many values: none is a version, nor any other mark.
  for (let at = 0; at < 81; at += 1)
    expect(new Set(tokens.map((token) => token[at])).size).toBeGreaterThan(200);
});

test('no two links share an IV', () => {
  const said = link();
  const ivs = Array.from({ length: 5_000 }, () =>
    Buffer.from(makeUnsubscribeToken(keys, { ...said, sendId: newId() }), 'base64url').toString(
      'hex',
      0,
      16,
    ),
  );
  expect(new Set(ivs).size).toBe(ivs.length);
});

test('the token of an email from before is read as before: this one never changes', () => {
  expect(readUnsubscribeToken(keys, SENT_BEFORE)).toEqual({
    projectId: '0198a1b2-0000-7000-8000-1234567890ab',
    addressKey: Buffer.alloc(32, 7),
    sendId: '0198a1b2-0000-7000-8000-00000000beef',
  });
});

test('the token of an email of today is read forever: this one never changes', () => {
  const said = {
    projectId: '0198a1b2-0000-7000-8000-1234567890ab',
    addressKey: Buffer.alloc(32, 7),
    sendId: '0198a1b2-0000-7000-8000-00000000beef',
  };
  expect(makeUnsubscribeToken(keys, said)).toBe(SENT_TODAY);
  expect(readUnsubscribeToken(keys, SENT_TODAY)).toEqual(said);
});

test('after the master key is rotated every token is read: its keys come from the root, which stays', () => {
  const root = Buffer.alloc(32, 1);
  const next = { version: 2, key: Buffer.alloc(32, 9) };
  const rotated = new Keys(root, [next, { version: 1, key: root }]);
  const later = new Keys(root, [next]);
  const said = link();
  for (const [, make] of FORMS)
    for (const after of [rotated, later])
      expect(readUnsubscribeToken(after, make(said))).toEqual(said);
  expect(makeUnsubscribeToken(later, said)).toBe(makeUnsubscribeToken(keys, said));
});

describe.each(FORMS)('%s', (_form, make) => {
  test('a token of which any bit is another says nothing', () => {
    const bytes = Buffer.from(make(link()), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readUnsubscribeToken(keys, changed.toString('base64url'))).toBeNull();
    }
  });

  test('a token has one spelling: any other letter at any place, also in unused bits, says nothing', () => {
    const token = make(link());
    const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < token.length; at += 1)
      for (const letter of LETTERS) {
        const other = `${token.slice(0, at)}${letter}${token.slice(at + 1)}`;
        if (other !== token) expect(readUnsubscribeToken(keys, other)).toBeNull();
      }
  });

  test('padding, the other alphabet, blanks, escapes and another case say nothing', () => {
    // With letters of both alphabets in it, so that each variant differs.
    let token = make(link());
    while (!/-/.test(token) || !/_/.test(token)) token = make(link());
    const variants = [
      '',
      'x',
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      `${token}==`,
      `${token}\n`,
      ` ${token}`,
      `${token.slice(0, 50)}\n${token.slice(50)}`,
      token.replaceAll('-', '+').replaceAll('_', '/'),
      token.replace('-', '+'),
      token.replaceAll('-', '%2D'),
      token.toLowerCase(),
      token.toUpperCase(),
      `${token}${token}`,
      '%00',
      '\0'.repeat(token.length),
      'ü'.repeat(token.length),
    ];
    expect(readUnsubscribeToken(keys, token)).not.toBeNull();
    for (const text of variants) expect(readUnsubscribeToken(keys, text), text).toBeNull();
  });

  test('another installation reads nothing in it', () => {
    expect(readUnsubscribeToken(new Keys(Buffer.alloc(32, 2)), make(link()))).toBeNull();
  });
});

test('the MAC of one signed link is that of no other: of another project, address, send or version', () => {
  const said = link();
  const bytesOf = (given: typeof said) => Buffer.from(signedToken(keys, given), 'base64url');
  const mac = bytesOf(said).subarray(-32);
  const forge = (given: typeof said, version = 1): string => {
    const text = bytesOf(given).subarray(0, -32);
    text[0] = version;
    return Buffer.concat([text, mac]).toString('base64url');
  };
  expect(readUnsubscribeToken(keys, forge(said))).toEqual(said);
  const { projectId, addressKey, sendId } = link();
  for (const other of [{ projectId }, { addressKey }, { sendId }])
    expect(readUnsubscribeToken(keys, forge({ ...said, ...other }))).toBeNull();
  expect(readUnsubscribeToken(keys, forge(said, 2))).toBeNull();
});

test('a signed link of another version says nothing, though we signed it', () => {
  const bytes = Buffer.from(signedToken(keys, link()), 'base64url').subarray(0, -32);
  bytes[0] = 2;
  const mac = createHmac('sha256', keys.of('unsubscribe-link')).update(bytes).digest();
  const token = Buffer.concat([bytes, mac]).toString('base64url');
  expect(readUnsubscribeToken(keys, token)).toBeNull();
});
