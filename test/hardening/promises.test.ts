// The threat model, promise by promise, with the tests that show each: one that is gone, or renamed, is missed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callers } from './callers.ts';
import { content } from './content.ts';
import { doors } from './doors.ts';
import { webhooks } from './feedback.ts';
import { house } from './house.ts';
import { owasp } from './owasp.ts';
import type { Promised } from './promised.ts';
import { tenants } from './tenants.ts';

const TESTS = join(import.meta.dirname, '..');
const areas = [...callers, tenants, ...doors, webhooks, ...content, ...house];

/** Rules of the catalogue are tests by their name: each holds, and is shown to be able to fail. */
const RULES = /^support\/\w+_rules\.ts$/;

/** Where a statement of a test file begins; the last one before a title is what is given it. */
const BEGINS = /^[ \t]*((?:test|it|describe)\b(?:\.\w+)*)/gm;
const IS_RUN = new Set(['test', 'test.each', 'test.concurrent', 'test.concurrent.each']);
const LEFT_OUT = /^,\s*\{[^}]*\b(?:skip|todo|fails)\b/;
const GROUP_LEFT_OUT = /^[ \t]*describe\.(?:skip|todo)/m;

/** Whether the text of a file runs a test of this title: what `test` is given, not `describe`, and not in a comment. */
const runsTest = (text: string, title: string): boolean =>
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

const findMissing = ({ says, shown }: Promised): string[] => {
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

describe.each(areas)('$area', ({ promises }) => {
  test.each(promises)('$says', (promised) => {
    expect(findMissing(promised)).toEqual([]);
  });
});

describe('the OWASP API list of 2023', () => {
  test('each of the ten risks is answered, by areas that there are', () => {
    expect(owasp.map(({ risk }) => risk.split(' ', 1)[0])).toEqual(
      Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
    );
    const known = areas.map(({ area }) => area);
    expect(owasp.flatMap((answer) => answer.areas).filter((area) => !known.includes(area))).toEqual(
      [],
    );
  });

  test.each(owasp)('$risk: $says', (answer) => {
    expect(findMissing(answer)).toEqual([]);
  });
});

test('every area of the threat model is here, once', () => {
  expect(areas.map(({ area }) => area)).toEqual([
    'Keys',
    'Publishable keys',
    'Tenant isolation',
    'Provider credentials',
    'Outgoing connections',
    'Webhooks',
    'E-mail building',
    'Templates',
    'Segments and filters',
    'Links',
    'Console',
    'Resource limits',
    'Logs and errors',
    'Erasure and retention',
    'Supply chain',
  ]);
});

test.each([
  [`test('a', () => {});`, true],
  [`  test.each([\n    1,\n  ])('a', { timeout: 5 }, () => {});`, true],
  [`test${'.skip'}('a', () => {});`, false],
  [`test${'.todo'}('a');`, false],
  [`test${'.fails'}('a', () => {});`, false],
  [`test${'.skipIf'}(isSlow)('a', () => {});`, false],
  [`test('a', { skip: true }, () => {});`, false],
  [`describe${'.skip'}('b', () => {\n  test('a', () => {});\n});`, false],
  [`describe('a', () => {});`, false],
  [`// test('a', () => {});`, false],
  [`describe('b', () => {\n  // test('a', () => {});\n});`, false],
])('what is run counts, and nothing that is left out: %j', (text, isRun) => {
  expect(runsTest(text, 'a')).toBe(isRun);
});

test('a test that is not there is missed', () => {
  const shown = { 'hardening/promises.test.ts': ['a test that is not there is missed'] };
  expect(findMissing({ says: 'a', shown })).toEqual([]);
  expect(findMissing({ says: 'a', shown: {} })).toEqual(['nothing shows: a']);
  for (const [file, title] of [
    ['hardening/promises.test.ts', 'every area of the threat model'],
    ['hardening/promises.test.ts', 'the OWASP API list of 2023'],
    ['hardening/nothing.test.ts', 'a test that is not there is missed'],
    ['hardening/house.ts', 'the token is stored as a hash only'],
  ] as const)
    expect(findMissing({ says: 'a', shown: { [file]: [title] } })).toHaveLength(1);
});
