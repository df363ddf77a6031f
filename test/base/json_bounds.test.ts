import { expect, test } from 'vitest';
import { parseJson } from '../../src/base/json.ts';
import { findExcess, JSON_LEVELS_MAX, JSON_VALUES_MAX } from '../../src/base/json_bounds.ts';

const deep = (levels: number, [open, close] = '[]'): string =>
  `${open}`.repeat(levels) + `${close}`.repeat(levels);
const items = (count: number): string => `[${Array(count).fill('0').join(' , ')}]`;
const members = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join()}}`;

test('so many levels are taken, and not one more', () => {
  for (const mixed of [deep, (levels: number) => `{"a":${deep(levels - 1)}}`]) {
    expect(findExcess(mixed(JSON_LEVELS_MAX))).toBeNull();
    expect(findExcess(mixed(JSON_LEVELS_MAX + 1))).toMatch(/levels deep/);
  }
  // Beside each other they are not in each other.
  expect(
    findExcess(
      `[${Array(100)
        .fill(deep(JSON_LEVELS_MAX - 1))
        .join()}]`,
    ),
  ).toBeNull();
});

test('so many members and items are taken, and not one more', () => {
  for (const many of [items, members]) {
    expect(findExcess(many(JSON_VALUES_MAX))).toBeNull();
    expect(findExcess(many(JSON_VALUES_MAX + 1))).toMatch(/members and items/);
  }
  const half = JSON_VALUES_MAX / 2;
  const both = (more: number) => `[${items(half - 2)},${members(half + more)}]`;
  expect(findExcess(both(0))).toBeNull();
  expect(findExcess(both(1))).toMatch(/members and items/);
});

test('what is empty holds nothing, with blanks in it or without', () => {
  const many = (one: string) => `[${Array(JSON_VALUES_MAX).fill(one).join()}]`;
  for (const one of ['[]', '{}', '[ \n]', '{\t}']) expect(findExcess(many(one))).toBeNull();
  expect(findExcess(many('[0]'))).not.toBeNull();
});

test('what stands in a text is part of it', () => {
  const noise = '[{,'.repeat(JSON_VALUES_MAX);
  for (const text of [noise, `\\" ${noise}`, `${noise}\\`, `\\\\" ${noise}`])
    expect(findExcess(JSON.stringify([text]))).toBeNull();
});

test.each(['', '"', '["', '{"a', '"\\"', ']', ']]]][', '{,,,}', '[[['])(
  'of %j, which is no JSON, it says nothing, and comes to an end',
  (text) => {
    expect(findExcess(text)).toBeNull();
    expect(() => parseJson(Buffer.from(text))).toThrow(
      expect.objectContaining({ reason: 'invalid_json' }),
    );
  },
);

test('invalid_request: a body with more is refused before it is read', () => {
  for (const text of [deep(500_000), '['.repeat(1_000_000), items(JSON_VALUES_MAX + 1)])
    expect(() => parseJson(Buffer.from(text))).toThrow(
      expect.objectContaining({ reason: 'invalid_request' }),
    );
});
