import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findRepeatedKey } from '../../src/base/repeated_keys.ts';

const find = (json: string) => findRepeatedKey(json, JSON.parse(json));

test.each([
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"b":{"c":[0,{"d":1,"d":1}]}}', ['b', 'c', 1, 'd']],
  ['{"a" : 1 ,\n "a"\t: 2}', ['a']],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['{"\\"":1,"\\"":2}', ['"']],
  ['{"\\\\":1,"\\\\":2}', ['\\']],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['{"":1,"":2}', ['']],
  ['[{},[],{"x":{},"x":[]}]', [2, 'x']],
])('%s has a name twice', (json, path) => {
  expect(find(json)).toEqual(path);
});

test.each([
  '{"a":"\\"a\\":1","b":"a"}',
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
  '{"a":"x:","b":["a","a"]}',
  '{"__proto__":{"a":1},"a":1}',
  '[]',
  '"a"',
  'null',
])('%s has not', (json) => {
  expect(find(json)).toBeNull();
});

describe('whatever the value', () => {
  test('no JSON text that was written from a value has a name twice', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(find(JSON.stringify(JSON.parse(json), null, 1))).toBeNull();
      }),
    );
  });

  test('a member that is written again is found, wherever it is', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, fc.jsonValue(), (name, value) => {
        const member = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
        expect(find(`{"list": [{}, {${member}, ${member}}]}`)).toEqual(['list', 1, name]);
      }),
    );
  });

  test('deep input does not overflow the stack', () => {
    const deep = `${'['.repeat(5_000)}{"a":1,"a":1}${']'.repeat(5_000)}`;
    expect(find(deep)).toHaveLength(5_001);
  });
});
