import { hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { Keys } from '../../src/base/keys.ts';
import type { KeyPurpose } from '../../src/base/keys.ts';

const PURPOSES: KeyPurpose[] = [
  'api-key-pepper',
  'address-hash',
  'session',
  'runtime-role-password',
  'queue-role-password',
];
const keys = new Keys(Buffer.alloc(32, 1));

test('each purpose has a key of its own, 32 bytes long', () => {
  const derived = PURPOSES.map((purpose) => keys.of(purpose));
  expect(new Set(derived.map((key) => key.toString('hex'))).size).toBe(PURPOSES.length);
  for (const key of derived) expect(key).toHaveLength(32);
});

test('keys are the same in every process with the same master key, and in no other', () => {
  const same = new Keys(Buffer.alloc(32, 1));
  const other = new Keys(Buffer.alloc(32, 2));
  for (const purpose of PURPOSES) {
    expect(same.of(purpose)).toEqual(keys.of(purpose));
    expect(other.of(purpose)).not.toEqual(keys.of(purpose));
  }
});

test('keys follow RFC 5869, so that another program can derive them', () => {
  const expected = hkdfSync(
    'sha256',
    Buffer.alloc(32, 1),
    Buffer.alloc(0),
    'trunkline/credentials',
    32,
  );
  expect(keys.outer(1)).toEqual(Buffer.from(expected));
});

test('a hash is keyed by its purpose and says nothing without it', () => {
  const hashes = PURPOSES.map((purpose) => keys.hash(purpose, 'ann@example.com').toString('hex'));
  expect(new Set(hashes).size).toBe(PURPOSES.length);
  expect(keys.hash('address-hash', 'ann@example.com')).toHaveLength(32);
  expect(keys.hash('address-hash', 'a')).toEqual(keys.hash('address-hash', 'a'));
});

test('the master key is not to be read from what is printed', () => {
  expect(JSON.stringify(keys)).toBe('{}');
});
