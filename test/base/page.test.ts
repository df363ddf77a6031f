import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  PAGE_ITEMS_DEFAULT,
  PAGE_ITEMS_MAX,
  pageQuery,
  readCursor,
  toCursor,
  toPage,
} from '../../src/base/page.ts';
import { Refusal } from '../../src/base/refusal.ts';

const Query = z.strictObject(pageQuery);
const Position = z.tuple([z.iso.datetime(), z.uuid()]);
const position = ['2026-01-31T12:00:00.000Z', '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'];

const issuesOf = (cursor: string) => {
  try {
    readCursor(Position, cursor);
  } catch (error) {
    return error instanceof Refusal && error.reason === 'invalid_request' && error.extras.issues;
  }
  return null;
};

test('a cursor reads back as the position it was made of', () => {
  expect(readCursor(Position, toCursor(position))).toEqual(position);
  expect(readCursor(Position, undefined)).toBeNull();
});

test('a cursor is safe in a URL as it is', () => {
  expect(toCursor(['?/+&=', 'ü'])).toMatch(/^[\w-]+$/);
});

test.each([
  ['nothing', ''],
  ['garbage', 'not a cursor'],
  ['what is not JSON', Buffer.from('[1').toString('base64url')],
  ['a position cut off', toCursor(position.slice(0, 1))],
  ['a position too long', toCursor([...position, 'x'])],
  ['another list’s position', toCursor(position.toReversed())],
  ['a position of another kind', toCursor(['yesterday', 'ann'])],
  ['an object', Buffer.from('{"0":"a"}').toString('base64url')],
  ['null', Buffer.from('null').toString('base64url')],
  ['something huge', 'A'.repeat(100_000)],
])('a cursor of %s is refused, by its place in the query', (_what, cursor) => {
  expect(issuesOf(cursor)).toEqual([{ path: '/cursor', message: expect.any(String) }]);
});

test('a page holds 50 items unless told, and between 1 and 200', () => {
  expect(Query.parse({})).toEqual({ limit: PAGE_ITEMS_DEFAULT });
  expect(Query.parse({ limit: '1' }).limit).toBe(1);
  expect(Query.parse({ limit: String(PAGE_ITEMS_MAX) }).limit).toBe(PAGE_ITEMS_MAX);
  for (const limit of ['0', '-1', String(PAGE_ITEMS_MAX + 1), '9'.repeat(400)])
    expect(Query.safeParse({ limit }).success).toBe(false);
});

test.each(['', ' ', 'ten', 'NaN', 'Infinity', '1.5', '5.0', '1e2', '0x10', '0b1', '1_0', '1,0'])(
  'a limit is a plain decimal integer: %j is none',
  (limit) => expect(Query.safeParse({ limit }).error?.issues[0]?.path).toEqual(['limit']),
);

test.each([' 5', '5 ', '\t5', '+5', '05', '-0', '٥', '５', true, null, [], ['5']])(
  'a limit is nothing that is read as one by accident: %j',
  (limit) => expect(Query.safeParse({ limit }).success).toBe(false),
);

test('the row past the page only says that there is a next one', () => {
  const page = (rows: string[]) =>
    toPage(rows, 2, { item: (row) => row.toUpperCase(), position: (row) => [row] });
  expect(page([])).toEqual({ items: [], next_cursor: null });
  expect(page(['a', 'b'])).toEqual({ items: ['A', 'B'], next_cursor: null });
  expect(page(['a', 'b', 'c'])).toEqual({ items: ['A', 'B'], next_cursor: toCursor(['b']) });
});
