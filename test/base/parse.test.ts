import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ISSUES_MAX,
  listUnstorable,
  parse,
  pointer,
  POINTER_NAMES_MAX,
} from '../../src/base/parse.ts';
import { Refusal } from '../../src/base/refusal.ts';
import type { Issue } from '../../src/base/refusal.ts';
import { checkTraits } from '../../src/profiles/traits.ts';

const issuesOf = (schema: z.ZodType, value: unknown): Issue[] => {
  try {
    parse(schema, value);
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'invalid_request')
      return error.extras.issues ?? [];
    throw error;
  }
  throw new Error('was not refused');
};

test('what is right comes back parsed', () => {
  expect(parse(z.strictObject({ n: z.coerce.number() }), { n: '7' })).toEqual({ n: 7 });
});

test('a pointer escapes what RFC 6901 says, and the whole document is empty', () => {
  expect(pointer([])).toBe('');
  expect(pointer(['events', 3, 'a/b', 'm~n', ''])).toBe('/events/3/a~1b/m~0n/');
  expect(pointer(['~1'])).toBe('/~01');
});

test('a pointer is well-formed, whatever a member is called', () => {
  expect(pointer(['traits', 'a\ud800', '👋'])).toBe('/traits/a\ufffd/👋');
});

test('what is wrong is said in words for people, whichever rule says it', () => {
  const schema = z.strictObject({
    text: z.string().min(2),
    flag: z.boolean(),
    whole: z.int().max(9),
    list: z.array(z.null()).max(1),
    id: z.uuid(),
    word: z.enum(['one', 'two']),
    fixed: z.literal('it'),
    either: z.union([z.string(), z.number()]),
    needed: z.string(),
  });
  const given = {
    text: 'a',
    flag: 'yes',
    whole: 10,
    list: [null, null],
    id: 'x',
    word: 'three',
    fixed: 'no',
    either: {},
  };
  expect(
    Object.fromEntries(issuesOf(schema, given).map(({ path, message }) => [path, message])),
  ).toEqual({
    '/text': 'at least 2 characters',
    '/flag': 'must be true or false',
    '/whole': 'at most 9',
    '/list': 'at most 1 items',
    '/id': 'must be a UUID, such as 019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
    '/word': 'must be one of one, two',
    '/fixed': 'must be it',
    '/either': 'must be a string, or must be a number',
    '/needed': 'is required',
  });
});

test('every problem is named at once, each where it is', () => {
  const schema = z.strictObject({
    a: z.string(),
    list: z.array(z.strictObject({ 'x/y': z.int() })),
  });
  expect(issuesOf(schema, { a: 1, list: [{ 'x/y': 1 }, { 'x/y': 'no' }] })).toEqual([
    { path: '/a', message: expect.any(String) },
    { path: '/list/1/x~1y', message: expect.any(String) },
  ]);
});

test('each unknown member is an issue of its own, at its own place', () => {
  const schema = z.strictObject({ inner: z.strictObject({}) });
  expect(issuesOf(schema, { inner: { 'a/b': 1, '~c': 2 }, typo: 3 })).toEqual([
    { path: '/inner/a~1b', message: expect.stringContaining('unknown member') },
    { path: '/inner/~0c', message: expect.stringContaining('unknown member') },
    { path: '/typo', message: expect.stringContaining('unknown member') },
  ]);
});

test('__proto__ is an unknown member like any other', () => {
  const value: unknown = JSON.parse('{ "__proto__": { "isAdmin": true }, "constructor": 1 }');
  const paths = issuesOf(z.strictObject({}), value).map(({ path }) => path);
  expect(paths.toSorted()).toEqual(['/__proto__', '/constructor']);
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test('an answer lists at most so many problems, and all of them up to there', () => {
  const numbers = z.array(z.number());
  expect(issuesOf(numbers, Array(ISSUES_MAX).fill('x'))).toHaveLength(ISSUES_MAX);
  expect(issuesOf(numbers, Array(ISSUES_MAX + 1).fill('x'))).toHaveLength(ISSUES_MAX);
  const members = Object.fromEntries(Array.from({ length: ISSUES_MAX + 1 }, (_, n) => [n, n]));
  expect(issuesOf(z.strictObject({}), members)).toHaveLength(ISSUES_MAX);
});

test('a bug in a schema is not the caller’s fault', () => {
  const broken = z.string().transform(() => {
    throw new TypeError('bug');
  });
  expect(() => parse(broken, 'x')).toThrow(TypeError);
});

describe('of what may be one of several things', () => {
  const messagesOf = (schema: z.ZodType, given: unknown) =>
    Object.fromEntries(issuesOf(schema, given).map(({ path, message }) => [path, message]));
  const ReEntry = z.union([
    z.enum(['once', 'often']),
    z.strictObject({ per: z.string().max(3) }),
    z.strictObject({ by: z.string(), also: z.string() }),
  ]);

  test('the kinds are named when none of them is given, or another', () => {
    const schema = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('delay') }),
      z.strictObject({ kind: z.enum(['exit', 'split']) }),
    ]);
    const kinds = { '/kind': 'must be one of delay, exit, split' };
    expect(messagesOf(schema, { kind: 'moon' })).toEqual(kinds);
    expect(messagesOf(schema, {})).toEqual(kinds);
  });

  test('what is of the right type is told what it may be', () => {
    expect(messagesOf(ReEntry, 'never')).toEqual({ '': 'must be one of once, often' });
    const Late = z.union([z.literal('accept'), z.enum(['a', 'b']), z.number()]);
    expect(messagesOf(Late, 'c')).toEqual({ '': 'must be accept, or must be one of a, b' });
  });

  test('what comes closest to one of them is told what is wrong with that, at its place', () => {
    expect(messagesOf(ReEntry, { per: 'long' })).toEqual({ '/per': 'at most 3 characters' });
    expect(
      messagesOf(z.strictObject({ re_entry: ReEntry }), { re_entry: { by: 1, also: 'x' } }),
    ).toEqual({ '/re_entry/by': 'must be a string' });
  });

  test('what is missing is required', () => {
    expect(messagesOf(z.strictObject({ either: ReEntry }), {})).toEqual({
      '/either': 'is required',
    });
  });
});

test('attack: names of a megabyte are not repeated in each issue about what is in them', () => {
  const long = 'x'.repeat(1_000_000);
  expect(pointer([long, 0, 'a'.repeat(255)])).toBe(`/${'x'.repeat(255)}…/0/${'a'.repeat(255)}`);
  const members = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`m${at}`, '\0']));
  const problems = checkTraits({ [long]: members });
  expect(problems.length).toBeGreaterThan(10);
  expect(problems.map(({ path }) => pointer(path)).join('').length).toBeLessThan(100_000);
});

describe('texts that Postgres cannot store', () => {
  const message = 'must be well-formed Unicode without U+0000';
  /** A text with U+0000 that so many names lead to. */
  const deep = (names: number): unknown => {
    let value: unknown = 'a\0';
    for (let at = 0; at < names; at += 1) value = { in: value };
    return value;
  };

  test('are named by their paths, in members, in lists and in names', () => {
    expect(listUnstorable({ a: ['fine', 'b\0'] })).toEqual([{ path: '/a/1', message }]);
    expect(listUnstorable({ '\ud800': 1 })).toEqual([{ path: '/\ufffd', message }]);
    expect(listUnstorable({ a: ['fine', 1, null, true] })).toEqual([]);
  });

  test('have paths of POINTER_NAMES_MAX names, not one more', () => {
    const whole = '/in'.repeat(POINTER_NAMES_MAX);
    expect(listUnstorable(deep(POINTER_NAMES_MAX))).toEqual([{ path: whole, message }]);
    expect(listUnstorable(deep(POINTER_NAMES_MAX + 1))).toEqual([{ path: whole, message }]);
    expect(listUnstorable(deep(POINTER_NAMES_MAX - 1))[0]?.path).toBe(whole.slice('/in'.length));
  });

  test('are listed up to ISSUES_MAX, not one more', () => {
    const many = (count: number) => listUnstorable(Array(count).fill('\0')).length;
    expect([many(ISSUES_MAX), many(ISSUES_MAX + 1)]).toEqual([ISSUES_MAX, ISSUES_MAX]);
  });
});
