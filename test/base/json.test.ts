import { expect, test } from 'vitest';
import { parseJson } from '../../src/base/json.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const isInvalid = expect.objectContaining({ reason: 'invalid_json' });
const bytes = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));

test('a byte order mark before the value is passed over', () => {
  expect(parseJson(bytes(BYTE_ORDER_MARK, '{"a":"ä"}'))).toEqual({ a: 'ä' });
});

test.each([
  ['twice', bytes(BYTE_ORDER_MARK, BYTE_ORDER_MARK, '{}')],
  ['after the value', bytes('{}', BYTE_ORDER_MARK)],
  ['alone', BYTE_ORDER_MARK],
])('a byte order mark %s is not JSON', (_where, raw) => {
  expect(() => parseJson(raw)).toThrow(isInvalid);
});

test('a byte order mark inside a text belongs to it', () => {
  expect(parseJson(bytes('"\ufeff"'))).toBe('\ufeff');
});

test.each([
  ['nothing', bytes('')],
  ['a value cut off', bytes('{"a":')],
  ['two values', bytes('{} {}')],
  ['a byte that is no UTF-8', bytes('"', Buffer.from([0xff]), '"')],
  ['half a character', bytes('"', Buffer.from([0xc3]), '"')],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
])('%s is refused as invalid_json', (_what, raw) => {
  expect(() => parseJson(raw)).toThrow(isInvalid);
});

test('__proto__ is a member like any other', () => {
  expect(Object.keys(parseJson(bytes('{"__proto__":1}')) as object)).toEqual(['__proto__']);
});
