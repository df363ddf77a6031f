import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { report } from './measure.ts';
import { mergeResults, showResults } from './results.ts';

const read = (...path: string[]): string =>
  readFileSync(join(import.meta.dirname, ...path), 'utf8');

const HEAD = `| measure | ratio | wanted | measured | compared with | date | commit | machine |
|---|---|---|---|---|---|---|---|`;
const occasion = { date: '2026-01-02', commit: 'abcdef0', machine: 'a machine' };

const measuredAs = (name: string, measured: number) =>
  report({
    name,
    unit: 'ms',
    measured: [measured],
    comparedWith: 'nothing',
    comparison: [2],
    good: { atMost: 1 },
  });

describe('results', () => {
  test('a measure has one row: the newest', () => {
    const first = mergeResults(
      `before\n\n${HEAD}\n\nafter\n`,
      [measuredAs('a', 1), measuredAs('b', 2)],
      occasion,
    );
    const second = mergeResults(first, [measuredAs('a', 4)], { ...occasion, commit: '1234567' });
    const rows = second.split('\n').filter((line) => /^\| [ab] /.test(line));
    expect(rows).toEqual([
      expect.stringMatching(
        /^\| a \| 2\.00 .* not reached \(≤ 1\) \| 4\.00 .* 1234567 \| a machine \|$/,
      ),
      expect.stringMatching(/^\| b \| 1\.00 .* good \(≤ 1\) \| 2\.00 .* abcdef0 \| a machine \|$/),
    ]);
    expect(second).toBe(`before\n\n${HEAD}\n${rows.join('\n')}\n\nafter\n`);
  });

  test('without a table there is nowhere to keep them', () => {
    expect(() => mergeResults('no table', [], occasion)).toThrow('there is no table of measure');
  });

  test('the README shows the ratios of RESULTS.md', () => {
    const readme = read('..', '..', 'README.md');
    expect(readme.match(/^\| .* \| \S+ \[\S+ … \S+\] \| /gm)?.length).toBeGreaterThan(10);
    expect(showResults(readme, read('RESULTS.md'))).toBe(readme);
  });
});
