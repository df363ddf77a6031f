import { expect, test } from 'vitest';
import { CAUSES_MAX, codeOf, hasCode, listCauses } from '../../src/base/causes.ts';

/** An error with so many others around it; the innermost has a code. */
const nested = (around: number): Error => {
  let error: Error = Object.assign(new Error('innermost'), { code: '40001' });
  for (let at = 0; at < around; at += 1) error = new Error(`around ${at}`, { cause: error });
  return error;
};

test('an error and its causes are listed, the outermost first', () => {
  expect(listCauses(nested(2)).map(({ message }) => message)).toEqual([
    'around 1',
    'around 0',
    'innermost',
  ]);
  expect(listCauses('no error')).toEqual([]);
});

test('CAUSES_MAX of them are read, not one more, and a cycle ends', () => {
  const isRetried = (around: number) => hasCode(nested(around), /^40001$/);
  expect([isRetried(CAUSES_MAX - 1), isRetried(CAUSES_MAX)]).toEqual([true, false]);
  const cycle = new Error('its own cause');
  cycle.cause = cycle;
  expect(listCauses(cycle)).toHaveLength(CAUSES_MAX);
});

test('a code is a text', () => {
  expect(codeOf(nested(0))).toBe('40001');
  expect(codeOf(Object.assign(new Error('x'), { code: 40_001 }))).toBeUndefined();
  expect(codeOf(new Error('x'))).toBeUndefined();
});
