import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countValues, JSON_VALUES_MAX, ValueCounter } from '../../../src/base/bodies/bodies.ts';
import { parseJson } from '../../../src/base/json.ts';
import { Refusal } from '../../../src/base/refusal.ts';
import { reasonOf } from '../../support/refusal_of.ts';

/** How many values a parsed value is. Lists of its own: the stack would overflow on deep input. */
const valuesIn = (given: unknown): number => {
  let count = 0;
  const pending = [given];
  while (pending.length > 0) {
    const value = pending.pop();
    count += 1;
    if (typeof value === 'object' && value !== null) pending.push(...Object.values(value));
  }
  return count;
};

const exactly = (text: string, pieces: readonly number[] = []): number => {
  const counter = new ValueCounter(Infinity);
  const bytes = Buffer.from(text);
  const cuts = pieces.map((piece) => piece % (bytes.length + 1)).toSorted((a, b) => a - b);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    counter.push(bytes.subarray(from, cut));
    from = cut;
  }
  return counter.count;
};

describe('the values of JSON', () => {
  test.each<[string, number]>([
    ['1', 1],
    ['[]', 1],
    ['[ \n ]', 1],
    ['{}', 1],
    ['[1]', 2],
    ['[[],{}]', 3],
    ['[[[]]]', 3],
    ['{"a":[1,2],"b":{}}', 5],
    ['"[1,2,{"', 1],
    [String.raw`["a\"[,", "\\", 1]`, 4],
    ['[true,null,-1.5e3]', 4],
  ])('%s are %i', (text, count) => {
    expect([exactly(text), valuesIn(JSON.parse(text))]).toEqual([count, count]);
  });

  test('are counted as a parser counts them, however the text is written and cut', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.constantFrom(0, 2),
        fc.array(fc.nat(), { maxLength: 5 }),
        (json, indent, pieces) => {
          const text = JSON.stringify(JSON.parse(json), null, indent);
          expect(exactly(text, pieces)).toBe(valuesIn(JSON.parse(text)));
          expect(countValues(text)).toBeGreaterThanOrEqual(valuesIn(JSON.parse(text)));
        },
      ),
    );
  });
});

const KINDS: [string, (values: number) => string][] = [
  [
    'empty objects',
    (values) =>
      `[${Array(values - 1)
        .fill('{}')
        .join(',')}]`,
  ],
  [
    'empty lists',
    (values) =>
      `[${Array(values - 1)
        .fill('[]')
        .join(',')}]`,
  ],
  ['levels', (values) => '['.repeat(values) + ']'.repeat(values)],
  [
    'numbers',
    (values) =>
      `[${Array(values - 1)
        .fill('1')
        .join(',')}]`,
  ],
  ['members', (values) => JSON.stringify(Object.assign({}, Array(values - 1).fill(1)))],
  ['texts with marks', (values) => JSON.stringify(Array(values - 1).fill('{"[,'))],
];

describe.each(KINDS)('413 body_too_large: %s', (_kind, make) => {
  test('as many as there may be are parsed, one more is refused before a parser sees it', () => {
    expect(parseJson(Buffer.from(make(JSON_VALUES_MAX)))).toBeDefined();
    const whole = make(JSON_VALUES_MAX + 1);
    expect(reasonOf(() => parseJson(Buffer.from(whole)))).toBe('body_too_large');
    // The parser skips what follows too many values: it need not be JSON.
    const broken = `${whole.slice(0, -1)},!`;
    expect(reasonOf(() => parseJson(Buffer.from(broken)))).toBe('body_too_large');
  });
});

test('what is no JSON is refused as that', () => {
  for (const text of ['', '[', '{"a"}', '[,,,]', '"', String.raw`"\"`])
    expect(reasonOf(() => parseJson(Buffer.from(text)))).toBe('invalid_json');
});

test('a counter refuses as soon as there are too many', () => {
  const counter = new ValueCounter(3);
  counter.push(Buffer.from('[1,2'));
  expect(() => counter.push(Buffer.from(',3'))).toThrow(Refusal);
});
