import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupByShared } from '../../src/automations/group_by_shared.ts';

const group = (...items: string[]) => groupByShared(items, (item) => item.split('')).map(String);

test('groups items that share a key, also through others, in their order', () => {
  expect(group('a', 'b', 'a', 'c')).toEqual(['a,a', 'b', 'c']);
  expect(group('a', 'b', 'cd', 'bc')).toEqual(['a', 'b,cd,bc']);
  expect(group('ab', 'cd', 'ef', 'fa', 'x', 'e')).toEqual(['ab,ef,fa,e', 'cd', 'x']);
  expect(group('', '')).toEqual(['', '']);
});

test('no two groups share a key, and a group cannot be split', () => {
  const items = fc.array(fc.array(fc.nat({ max: 30 }), { maxLength: 4 }), { maxLength: 30 });
  fc.assert(
    fc.property(items, (all) => {
      const groups = groupByShared([...all.entries()], ([, keys]) => keys.map(String));
      expect(groups.flat().toSorted(([a], [b]) => a - b)).toEqual([...all.entries()]);
      const keysOf = groups.map((one) => new Set(one.flatMap(([, keys]) => keys)));
      for (const [at, keys] of keysOf.entries())
        for (const other of keysOf.slice(at + 1))
          expect([...keys].some((key) => other.has(key))).toBe(false);
      for (const one of groups) {
        expect(one).toEqual(one.toSorted(([a], [b]) => a - b));
        const reached = new Set(one[0]?.[1]);
        let rest = one.slice(1);
        for (let before = -1; before !== rest.length;) {
          before = rest.length;
          const near = rest.filter(([, keys]) => keys.some((key) => reached.has(key)));
          for (const [, keys] of near) for (const key of keys) reached.add(key);
          rest = rest.filter((item) => !near.includes(item));
        }
        expect(rest).toEqual([]);
      }
    }),
  );
});
