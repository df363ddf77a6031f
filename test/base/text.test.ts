import { expect, test } from 'vitest';
import { isStorableJson } from '../../src/base/text.ts';

test.each([
  { a: '\0' },
  { '\0': 1 },
  { a: [{ b: 'x\0y' }] },
  { a: '\uD800' },
  { a: '\uDFFF' },
  ['\\\0'],
  ['\\\\\uD83D'],
])('what jsonb cannot hold is found wherever it is: %j', (value) => {
  expect(isStorableJson(value)).toBe(false);
});

test.each([{ a: '\\u0000' }, { a: '\\\\ud800' }, { a: '😀' }, { '\\u0000': '\uFFFD\u0001' }])(
  'what only looks like it is no hindrance: %j',
  (value) => {
    expect(isStorableJson(value)).toBe(true);
  },
);
