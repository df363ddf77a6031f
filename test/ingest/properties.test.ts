import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkProperties,
  PROPERTY_KEY_CHARS_MAX,
  PROPERTY_KEYS_MAX,
  PROPERTY_STRING_BYTES_MAX,
} from '../../src/ingest/properties.ts';

const isGood = (value: unknown): boolean => checkProperties(value).length === 0;
const withKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, at]));
/** So many levels of arrays or objects in each other. */
const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
};

test('strings, finite numbers and booleans are good', () => {
  expect(isGood({})).toBe(true);
  expect(
    isGood({ text: 'x', empty: '', n: -1.5, zero: 0, yes: true, no: false, 'ключ 👋': 'ü' }),
  ).toBe(true);
});

test.each([null, undefined, 1, 'x', true, [], [1], Symbol('x')])('%s is no object', (value) => {
  expect(checkProperties(value)).toEqual([{ path: [], message: 'must be an object' }]);
});

test('there are at most 64 keys', () => {
  expect(isGood(withKeys(PROPERTY_KEYS_MAX))).toBe(true);
  expect(checkProperties(withKeys(PROPERTY_KEYS_MAX + 1))).toEqual([
    { path: [], message: 'at most 64 keys' },
  ]);
});

test('a key has 1 to 255 characters', () => {
  expect(isGood({ ['k'.repeat(PROPERTY_KEY_CHARS_MAX)]: 1 })).toBe(true);
  expect(isGood({ ['k'.repeat(PROPERTY_KEY_CHARS_MAX + 1)]: 1 })).toBe(false);
  expect(isGood({ '': 1 })).toBe(false);
});

test('a string has at most 8 KiB, counted in bytes', () => {
  expect(isGood({ s: 'x'.repeat(PROPERTY_STRING_BYTES_MAX) })).toBe(true);
  expect(isGood({ s: 'x'.repeat(PROPERTY_STRING_BYTES_MAX + 1) })).toBe(false);
  expect(isGood({ s: 'ü'.repeat(PROPERTY_STRING_BYTES_MAX / 2) })).toBe(true);
  expect(isGood({ s: `ü${'ü'.repeat(PROPERTY_STRING_BYTES_MAX / 2)}` })).toBe(false);
});

test('integers lie within ±(2^53 − 1); fractions and zeros are any', () => {
  for (const n of [
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    0,
    -0,
    0.1,
    5e-324,
    1e15 + 0.5,
  ])
    expect(isGood({ n })).toBe(true);
  for (const n of [2 ** 53, -(2 ** 53), 1e21, 1e308, Infinity, -Infinity, NaN])
    expect(isGood({ n })).toBe(false);
  expect(isGood(JSON.parse('{ "n": 1e999 }'))).toBe(false);
});

test.each([
  ['U+0000', 'a\0b'],
  ['a high surrogate alone', 'a\ud800'],
  ['a low surrogate alone', '\udc00b'],
  ['surrogates the wrong way round', '\udc00\ud800'],
])('text with %s is refused, as a value and as a key', (_what, text) => {
  expect(checkProperties({ good: text })).toEqual([
    { path: ['good'], message: expect.any(String) },
  ]);
  expect(checkProperties({ [text]: 1 })).toEqual([{ path: [text], message: expect.any(String) }]);
});

test('a pair of surrogates is a character like any other', () => {
  expect(isGood({ '👋': '\ud83d\udc4b' })).toBe(true);
});

test.each([null, undefined, [], {}, [1], { a: 1 }, 1n, () => 1])(
  'a value of %s is refused',
  (value) => {
    expect(checkProperties({ good: 1, bad: value })).toEqual([
      { path: ['bad'], message: expect.stringContaining('nothing nested') },
    ]);
  },
);

test('a hundred thousand levels are refused without following them', () => {
  for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })])
    expect(checkProperties({ deep: nested(100_000, wrap) })).toEqual([
      { path: ['deep'], message: expect.stringContaining('nothing nested') },
    ]);
});

test('names of the language are names like any other', () => {
  const value: unknown = JSON.parse(
    '{ "__proto__": "x", "constructor": 1, "prototype": true, "toString": "y" }',
  );
  expect(checkProperties(value)).toEqual([]);
  expect(checkProperties(JSON.parse('{ "__proto__": { "isAdmin": true } }'))).toEqual([
    { path: ['__proto__'], message: expect.any(String) },
  ]);
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test('every problem is named, each by its key', () => {
  const paths = checkProperties({ a: null, b: 1, 'c/d': [], '': 2 }).map(({ path }) => path);
  expect(paths).toEqual([['a'], ['c/d'], ['']]);
});

test('whatever is good survives being written and read as JSON', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.integer());
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), value), (properties) => {
      if (!isGood(properties)) return;
      const plain = { ...properties };
      for (const [key, member] of Object.entries(plain)) if (Object.is(member, -0)) plain[key] = 0;
      expect(JSON.parse(JSON.stringify(properties))).toEqual(plain);
    }),
  );
});

test('of too many keys no value is looked at', () => {
  const given = Object.defineProperty(withKeys(PROPERTY_KEYS_MAX), 'last', {
    enumerable: true,
    get: () => {
      throw new Error('looked at');
    },
  });
  expect(checkProperties(given)).toEqual([
    { path: [], message: `at most ${PROPERTY_KEYS_MAX} keys` },
  ]);
});
