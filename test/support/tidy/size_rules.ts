import { filesOf } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

/** Limits exist from the first commit and only ever go down. */
const FILE_LINES_MAX = 250;
const TEST_LINES_MAX = 400;
const TASK_LINES_MAX = 30;
const FUNCTION_LINES_MAX = 60;
const SQL_FUNCTION_LINES_MAX = 80;
const LINE_COLUMNS_MAX = 120;
const ARGUMENTS_MAX = 4;

const SOURCE = /\.(?:ts|tsx|mjs)$/;
const TEST = /\.test\.ts$/;
const TASK = /^tasks\/.*\.ts$/;
/** Written by people: not what is generated, nor what is frozen. */
const WRITTEN =
  /^(?:(?:src|tasks|test)\/.*\.(?:ts|tsx|mjs)|db\/(?:fixtures\/.*|current)\.sql|db\/.*\.ts)$/;

const countLines = (text: string): number => text.replace(/\n$/, '').split('\n').length;

const findLong = (tree: Tree, isOf: (path: string) => boolean, linesMax: number): string[] =>
  filesOf(tree, SOURCE)
    .filter(({ path, text }) => isOf(path) && countLines(text) > linesMax)
    .map(({ path, text }) => `${path}: ${countLines(text)} lines, at most ${linesMax}`);

type LintConfig = { rules?: Record<string, unknown> };

/** What oxlint measures: functions and their arguments. */
const findLooseLint = ({ read }: Tree): string[] => {
  const { rules = {} } = JSON.parse(read('.oxlintrc.json') || '{}') as LintConfig;
  const [, argumentsMax] = (rules['max-params'] ?? []) as [string?, number?];
  const [, lines] = (rules['max-lines-per-function'] ?? []) as [string?, { max?: number }?];
  return [
    ...(argumentsMax === ARGUMENTS_MAX
      ? []
      : [`.oxlintrc.json: max-params is not ${ARGUMENTS_MAX}`]),
    ...(lines?.max === FUNCTION_LINES_MAX
      ? []
      : [`.oxlintrc.json: max-lines-per-function is not ${FUNCTION_LINES_MAX}`]),
  ];
};

const lines = (count: number): string => 'x\n'.repeat(count);

export const sizeRules: Rule[] = [
  {
    name: `a TypeScript file has at most ${FILE_LINES_MAX} lines, a test ${TEST_LINES_MAX}, a task ${TASK_LINES_MAX}`,
    find: (tree) => [
      ...findLong(tree, (path) => !TEST.test(path) && !TASK.test(path), FILE_LINES_MAX),
      ...findLong(tree, (path) => TEST.test(path), TEST_LINES_MAX),
      ...findLong(tree, (path) => TASK.test(path), TASK_LINES_MAX),
    ],
    examples: [
      { files: { 'src/a/a.ts': lines(251) }, says: 'src/a/a.ts: 251 lines, at most 250' },
      { files: { 'test/a.test.ts': lines(401) }, says: 'test/a.test.ts: 401 lines, at most 400' },
      { files: { 'tasks/a/b.ts': lines(31) }, says: 'tasks/a/b.ts: 31 lines, at most 30' },
    ],
  },
  {
    name: `a SQL function has at most ${SQL_FUNCTION_LINES_MAX} lines`,
    find: (tree) =>
      filesOf(tree, /^db\/fixtures\/.*\.sql$/).flatMap(({ path, text }) =>
        (text.match(/^create or replace function[\s\S]*?^\$\$;/gm) ?? [])
          .map(countLines)
          .filter((count) => count > SQL_FUNCTION_LINES_MAX)
          .map((count) => `${path}: ${count} lines, at most ${SQL_FUNCTION_LINES_MAX}`),
      ),
    examples: [
      {
        files: { 'db/fixtures/a/b.sql': `create or replace function a.b()\n${lines(79)}$$;\n` },
        says: 'db/fixtures/a/b.sql: 81 lines',
      },
    ],
  },
  {
    name: `a line has at most ${LINE_COLUMNS_MAX} columns`,
    find: (tree) =>
      filesOf(tree, WRITTEN).flatMap(({ path, text }) =>
        text
          .split('\n')
          .flatMap((line, index) =>
            line.length > LINE_COLUMNS_MAX
              ? [`${path}:${index + 1} has ${line.length} columns`]
              : [],
          ),
      ),
    examples: [
      { files: { 'src/a/a.ts': `x\n${'x'.repeat(121)}` }, says: 'src/a/a.ts:2 has 121 columns' },
      {
        files: { 'db/fixtures/a/b.sql': 'x'.repeat(121) },
        says: 'db/fixtures/a/b.sql:1 has 121 columns',
      },
    ],
  },
  {
    name: `functions have at most ${FUNCTION_LINES_MAX} lines and ${ARGUMENTS_MAX} arguments: the linter says so`,
    find: findLooseLint,
    examples: [
      {
        files: { '.oxlintrc.json': '{ "rules": { "max-params": ["error", 7] } }' },
        says: 'max-params',
      },
      { files: { '.oxlintrc.json': '{}' }, says: 'max-lines-per-function' },
    ],
  },
];
