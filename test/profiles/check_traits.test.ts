// How much of traits is looked at before they are refused.
import { expect, test } from 'vitest';
import { ISSUES_MAX } from '../../src/base/parse.ts';
import { checkTraits, TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from '../../src/profiles/traits.ts';

const TOO_LARGE = {
  path: [],
  message: `at most ${TRAITS_BYTES_MAX} bytes of JSON, numbers written out`,
};
const UNSAFE = Number.MAX_SAFE_INTEGER + 1;

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const named = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(times(count, value).map((one, at) => [`k${at}`, one]));

/** The same with a value that must not be looked at. */
const andOne = <T extends object>(given: T): T =>
  Object.defineProperty(given, 'last', {
    enumerable: true,
    get: () => {
      throw new Error('looked at');
    },
  });

test('of many wrong values as many are named as an answer lists, each by its path', () => {
  expect(checkTraits({ a: times(ISSUES_MAX - 1, UNSAFE) })).toHaveLength(ISSUES_MAX - 1);
  for (const inside of [times(5_000, UNSAFE), named(5_000, UNSAFE), times(5_000, [[[[1]]]])]) {
    const problems = checkTraits({ a: inside, b: 1 });
    expect(problems).toHaveLength(ISSUES_MAX);
    for (const { path } of problems) expect(path[0]).toBe('a');
    expect(new Set(problems.map(({ path }) => path.join())).size).toBe(ISSUES_MAX);
  }
});

test('values that have no room are refused together, and none of them is looked at', () => {
  const most = TRAITS_BYTES_MAX / 2 - 10;
  expect(checkTraits({ a: times(most, 1) })).toEqual([]);
  const more = TRAITS_BYTES_MAX / 2;
  for (const traits of [
    { a: andOne(times(more, 1)) },
    { a: andOne(named(more, 1)) },
    { a: andOne(times(more / 2, 1)), b: { c: times(more / 2, 1) } },
  ])
    expect(checkTraits(traits)).toEqual([TOO_LARGE]);
});

test('of too many members at the top none is looked at', () => {
  expect(checkTraits(named(TRAIT_KEYS_MAX, 1))).toEqual([]);
  expect(checkTraits(andOne(named(TRAIT_KEYS_MAX, 1)))).toEqual([
    { path: [], message: `at most ${TRAIT_KEYS_MAX} keys` },
  ]);
});

test('a number counts written out, as it is kept', () => {
  const written = (bytes: number) => ({ list: times(100, 1e-270), rest: 'x'.repeat(bytes) });
  // A point, a nought in front, and as many digits as the exponent says; commas, brackets, names.
  const others = 100 * (270 + 2) + 99 + '{"list":[],"rest":""}'.length;
  expect(checkTraits(written(TRAITS_BYTES_MAX - others))).toEqual([]);
  expect(checkTraits(written(TRAITS_BYTES_MAX - others + 1))).toEqual([TOO_LARGE]);
  expect(checkTraits({ list: times(90, -1.25e-300) })).toEqual([]);
  expect(checkTraits({ list: times(110, -1.25e-300) })).toEqual([TOO_LARGE]);
});
