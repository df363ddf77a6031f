import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { seal, unseal } from '../../src/base/sealing.ts';

const key = randomBytes(32);
const CONTEXT = 'v1/project/record/password';

test.each([0, 1, 32, 10_000])('%i sealed bytes open to what they were', (length) => {
  const plain = randomBytes(length);
  expect(unseal(key, CONTEXT, seal(key, CONTEXT, plain)).equals(plain)).toBe(true);
});

test('a ciphertext moved to another place does not open', () => {
  const sealed = seal(key, CONTEXT, Buffer.from('secret'));
  for (const context of [
    'v1/other/record/password',
    'v1/project/record/username',
    '',
    `${CONTEXT} `,
  ])
    expect(() => unseal(key, context, sealed)).toThrow();
});

test('another key does not open it', () => {
  const sealed = seal(key, CONTEXT, Buffer.from('secret'));
  expect(() => unseal(randomBytes(32), CONTEXT, sealed)).toThrow();
});

test('every single flipped bit is noticed: nonce, tag and ciphertext', () => {
  const sealed = seal(key, CONTEXT, Buffer.from('secret'));
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const flipped = Buffer.from(sealed);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => unseal(key, CONTEXT, flipped)).toThrow();
  }
});

test('whatever is cut off or added is noticed', () => {
  const sealed = seal(key, CONTEXT, Buffer.from('secret'));
  for (let length = 0; length < sealed.length; length += 1)
    expect(() => unseal(key, CONTEXT, sealed.subarray(0, length))).toThrow();
  expect(() => unseal(key, CONTEXT, Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow();
});

test('the same secret never looks the same twice, and never like itself', () => {
  const plain = Buffer.from('a password');
  const sealed = Array.from({ length: 200 }, () => seal(key, CONTEXT, plain));
  expect(new Set(sealed.map((one) => one.subarray(0, 12).toString('hex'))).size).toBe(200);
  expect(sealed.some((one) => one.includes(plain))).toBe(false);
});
