import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { makeUnsubscribeToken, readUnsubscribeToken } from '../../src/suppression/suppression.ts';

const keys = new Keys(Buffer.alloc(32, 1));
const link = () => ({ projectId: newId(), addressKey: randomBytes(32), sendId: newId() });

test('a token says what it was made of, in letters that need no escaping anywhere', () => {
  for (let round = 0; round < 50; round += 1) {
    const said = link();
    const token = makeUnsubscribeToken(keys, said);
    expect(token).toMatch(/^[\w-]{130}$/);
    expect(readUnsubscribeToken(keys, token)).toEqual(said);
  }
});

test('the same link has the same token, in every process and at any time', () => {
  const said = link();
  expect(makeUnsubscribeToken(new Keys(Buffer.alloc(32, 1)), said)).toBe(
    makeUnsubscribeToken(keys, said),
  );
});

test('a token of which any byte is another says nothing', () => {
  const bytes = Buffer.from(makeUnsubscribeToken(keys, link()), 'base64url');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(readUnsubscribeToken(keys, changed.toString('base64url'))).toBeNull();
  }
});

test('neither does one of another installation, one cut short, or any other text', () => {
  const token = makeUnsubscribeToken(keys, link());
  expect(readUnsubscribeToken(new Keys(Buffer.alloc(32, 2)), token)).toBeNull();
  for (const text of [
    '',
    'x',
    token.slice(0, -1),
    `${token}A`,
    ` ${token}`,
    '%00',
    'ü'.repeat(130),
  ])
    expect(readUnsubscribeToken(keys, text)).toBeNull();
});

test('the MAC of one link is that of no other: of another project, address, send or version', () => {
  const said = link();
  const bytesOf = (given: typeof said) =>
    Buffer.from(makeUnsubscribeToken(keys, given), 'base64url');
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
