// Whether a test that is named somewhere is there, and run.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Promised } from './promised.ts';

const TESTS = join(import.meta.dirname, '..');

/** Rules of the catalogue are tests by their name: each holds, and is shown to be able to fail. */
const RULES = /^support\/\w+_rules\.ts$/;

/** Where a statement of a test file begins; the last one before a title is what is given it. */
const BEGINS = /^[ \t]*((?:test|it|describe)\b(?:\.\w+)*)/gm;
const IS_RUN = new Set(['test', 'test.each', 'test.concurrent', 'test.concurrent.each']);
const LEFT_OUT = /^,\s*\{[^}]*\b(?:skip|todo|fails)\b/;
const GROUP_LEFT_OUT = /^[ \t]*describe\.(?:skip|todo)/m;

/** Whether the text of a file runs a test of this title: what `test` is given, not `describe`, and not in a comment. */
export const runsTest = (text: string, title: string): boolean =>
  !GROUP_LEFT_OUT.test(text) &&
  [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => {
    const at = text.indexOf(literal);
    const before = text.slice(0, Math.max(at, 0)).trimEnd();
    const [, begun = ''] = [...before.matchAll(BEGINS)].at(-1) ?? [];
    const isLeftOut = LEFT_OUT.test(text.slice(at + literal.length));
    return at >= 0 && before.endsWith('(') && IS_RUN.has(begun) && !isLeftOut;
  });

const hasTest = (file: string, title: string): boolean => {
  const path = join(TESTS, file);
  if (!(file.endsWith('.test.ts') || RULES.test(file)) || !existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  if (!RULES.test(file)) return runsTest(text, title);
  const [before, ...rest] = text.split(`'${title}'`);
  return rest.length > 0 && before !== undefined && before.trimEnd().endsWith('name:');
};

/** What is said to be shown by tests that are not there, or by none. */
export const findMissing = ({ says, shown }: Promised): string[] => {
  const named = Object.entries(shown).flatMap(([file, titles]) =>
    titles.map((title) => [file, title] as const),
  );
  return [
    ...(named.length === 0 ? [`nothing shows: ${says}`] : []),
    ...named
      .filter(([file, title]) => !hasTest(file, title))
      .map(([file, title]) => `${file} has no test "${title}"`),
  ];
};
