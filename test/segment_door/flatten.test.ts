import { expect, test } from 'vitest';
import { ISSUES_MAX } from '../../src/base/parse.ts';
import { PROPERTY_KEYS_MAX, PROPERTY_STRING_BYTES_MAX } from '../../src/ingest/ingest.ts';
import { flatten } from '../../src/segment_door/flatten.ts';

const of = (given: object) => flatten(given, ['properties']);

test('what is not nested stays as it is, under its own name', () => {
  const given = { orderId: '7', total: 12.5, isGift: false, 'a b': '' };
  expect(of(given)).toEqual({ properties: given, leftOut: [] });
});

test('a member of an object is outer_inner, a list is JSON as text, null is left out', () => {
  expect(
    of({ shipping: { city: 'Bern', geo: { lat: 46.9 } }, products: [{ sku: 'a' }], coupon: null }),
  ).toEqual({
    properties: { shipping_city: 'Bern', shipping_geo_lat: 46.9, products: '[{"sku":"a"}]' },
    leftOut: [],
  });
});

test('of two with one name the one that is nested less is kept, and the other is named', () => {
  expect(of({ a: { b: 'nested' }, a_b: 'own' })).toEqual({
    properties: { a_b: 'own' },
    leftOut: [{ path: '/properties/a/b', message: 'left out: there is another `a_b`' }],
  });
});

test('at 64 properties all are kept, one past it the last is named', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  expect(of(many(PROPERTY_KEYS_MAX)).leftOut).toEqual([]);
  const { properties, leftOut } = of(many(PROPERTY_KEYS_MAX + 1));
  expect(Object.keys(properties)).toHaveLength(PROPERTY_KEYS_MAX);
  expect(leftOut).toEqual([
    { path: '/properties/k64', message: 'left out: an event has at most 64 properties' },
  ]);
});

const nested = (levels: number): object => {
  let value: object = { end: 1 };
  for (let level = 1; level < levels; level += 1) value = { in: value };
  return value;
};

test('what lies deeper than five levels is JSON as text, and what lies very deep is left out', () => {
  expect(of(nested(5)).properties).toEqual({ in_in_in_in_end: 1 });
  expect(of(nested(6)).properties).toEqual({ in_in_in_in_in: '{"end":1}' });
  const { properties, leftOut } = of(nested(100_000));
  expect(properties).toEqual({});
  expect(leftOut).toEqual([
    { path: '/properties/in/in/in/in/in', message: 'left out: it cannot be kept as text' },
  ]);
});

test('a whole number that no number holds exactly is kept as text', () => {
  expect(of({ id: 2 ** 60 }).properties).toEqual({ id: String(2 ** 60) });
  expect(of(JSON.parse('{"much":1e400}') as object).leftOut).toHaveLength(1);
});

test('names that mean something to JavaScript are names like others', () => {
  const given = JSON.parse('{"__proto__":{"a":1},"constructor":"b"}') as object;
  expect(Object.entries(of(given).properties)).toEqual([
    ['constructor', 'b'],
    ['__proto___a', 1],
  ]);
});

/** The same with a member that must not be looked at. */
const andOne = (given: object): object =>
  Object.defineProperty(given, 'last', {
    enumerable: true,
    get: () => {
      throw new Error('looked at');
    },
  });

test('once all that is kept and all that is listed is known, no more is looked at', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  const count = PROPERTY_KEYS_MAX + ISSUES_MAX;
  for (const [given, at] of [
    [andOne(many(count)), '/properties'],
    [{ nested: andOne(many(count)) }, '/properties/nested'],
  ] as const) {
    const { properties, leftOut } = of(given);
    expect(Object.keys(properties)).toHaveLength(PROPERTY_KEYS_MAX);
    expect(leftOut).toHaveLength(ISSUES_MAX);
    expect([leftOut[0]?.path, leftOut.at(-1)?.path]).toEqual([
      `${at}/k${PROPERTY_KEYS_MAX}`,
      `${at}/k${count - 1}`,
    ]);
  }
  expect(() => of(andOne(many(count - 1)))).toThrow('looked at');
});

test('of what cannot be kept as many are named as an answer lists', () => {
  const infinite = Array.from({ length: ISSUES_MAX + 1 }, (_, at) => [`k${at}`, Infinity]);
  const { leftOut } = of({ ...Object.fromEntries(infinite), kept: 1 });
  expect(leftOut).toHaveLength(ISSUES_MAX);
  expect(leftOut[0]?.path).toBe('/properties/k0');
  expect(of({ ...Object.fromEntries(infinite), kept: 1 }).properties).toEqual({ kept: 1 });
});

test('a list with more values than have room in a text is left out, and none of them is looked at', () => {
  const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
  const most = ones(PROPERTY_STRING_BYTES_MAX / 2);
  expect(of({ most }).properties).toEqual({ most: JSON.stringify(most) });
  expect(of({ most: andOne(ones(PROPERTY_STRING_BYTES_MAX / 2 + 1)) })).toEqual({
    properties: {},
    leftOut: [{ path: '/properties/most', message: 'left out: it cannot be kept as text' }],
  });
});

test('attack: a name of a megabyte is not put before each of the names in it', () => {
  const long = 'x'.repeat(1_000_000);
  const members = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, at]));
  const { properties, leftOut } = flatten({ [long]: members, a: { b: 1 } }, ['properties']);
  expect(properties).toEqual({ a_b: 1 });
  expect(leftOut).toHaveLength(1);
  expect(leftOut[0]?.path.length).toBeLessThan(300);
});

test('a name of 255 characters is kept, one of 256 is left out, also where it comes of two', () => {
  const [inner, outer] = ['i'.repeat(100), 'o'.repeat(154)];
  const { properties, leftOut } = flatten(
    { [outer]: { [inner]: 1, [`${inner}i`]: 2 }, ['x'.repeat(255)]: 3, ['x'.repeat(256)]: 4 },
    [],
  );
  expect(Object.keys(properties).map((key) => key.length)).toEqual([255, 255]);
  expect(leftOut).toHaveLength(2);
});
