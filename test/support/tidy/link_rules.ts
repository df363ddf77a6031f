import { refusals } from '../../../src/base/refusal.ts';
import { TRIAL } from '../recorded.ts';
import { filesOf, matches } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

const FUNCTION_FILE = /^db\/fixtures\/\w+\/\w+\.sql$/;
const SQL_FILE = /^db\/(?:fixtures\/.*|current)\.sql$/;
const TASK_FILE = /^tasks\/\w+\/\w+\.ts$/;
const TEST_FILE = /\.test\.ts$/;

const listTasks = (tree: Tree): string[] =>
  filesOf(tree, TASK_FILE).map(({ path }) => path.replace(/^tasks\/|\.ts$/g, ''));

/** The test of a subject: a file of its name, or a folder of such files when one grew too long. */
const hasTest = ({ paths }: Tree, room: string, subject: string): boolean =>
  paths.some(
    (path) =>
      path === `test/${room}/${subject}.test.ts` || path.startsWith(`test/${room}/${subject}/`),
  );

const findQueued = (tree: Tree): { path: string; task: string }[] => [
  ...filesOf(tree, /^(?:src|tasks)\/.*\.ts$/).flatMap(({ path, text }) =>
    matches(text, /\btask:\s*['"]([^'"]+)['"]/g).map((task) => ({ path, task })),
  ),
  ...filesOf(tree, SQL_FILE).flatMap(({ path, text }) =>
    matches(text, /\b(?:identifier|task)\s*=>\s*'([^']+)'/g).map((task) => ({ path, task })),
  ),
];

/** Minute, hour, day, month, weekday; then the task. */
const findScheduled = (tree: Tree): string[] =>
  filesOf(tree, /^tasks\/crontab$/).flatMap(({ text }) =>
    text
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
      .map((line) => line.trim().split(/\s+/)[5] ?? line),
  );

/** `raise … using errcode = 'ZREFU', message = 'name'`: the name, whichever way it is written. */
const findRefused = (sql: string): { statement: string; names: string[] }[] =>
  (sql.replaceAll(/--[^\n]*/g, '').match(/\braise\b[^;]*'ZREFU'[^;]*;/gi) ?? []).map(
    (statement) => ({
      statement,
      names: matches(statement, /'([a-z_]+)'/g),
    }),
  );

export const linkRules: Rule[] = [
  {
    name: 'every SQL function has a test with its name',
    find: (tree) =>
      filesOf(tree, FUNCTION_FILE).flatMap(({ path }) => {
        const [, , room = '', file = ''] = path.split('/');
        const subject = file.replace(/\.sql$/, '');
        return hasTest(tree, room, subject) ? [] : [`test/${room}/${subject}.test.ts is missing`];
      }),
    examples: [
      { files: { 'db/fixtures/a/do_it.sql': '' }, says: 'test/a/do_it.test.ts is missing' },
      {
        files: { 'db/fixtures/a/do_it.sql': '', 'test/b/do_it.test.ts': '' },
        says: 'test/a/do_it.test.ts is missing',
      },
    ],
  },
  {
    name: 'every job that is queued has a task file',
    find: (tree) => {
      const tasks = listTasks(tree);
      return findQueued(tree)
        .filter(({ task }) => !tasks.includes(task))
        .map(({ path, task }) => `${path}: ${task}`);
    },
    examples: [
      { files: { 'src/a/a.ts': `({ task: 'a/do_it' })` }, says: 'src/a/a.ts: a/do_it' },
      {
        files: { 'db/fixtures/a/b.sql': `perform queue.add_hint(task => 'a/do_it')` },
        says: 'db/fixtures/a/b.sql: a/do_it',
      },
    ],
  },
  {
    name: 'every crontab entry has a task file',
    find: (tree) => findScheduled(tree).filter((task) => !listTasks(tree).includes(task)),
    examples: [
      { files: { 'tasks/crontab': '# why\n0 4 * * * a/do_it ?max=1\n' }, says: 'a/do_it' },
    ],
  },
  {
    name: 'every task file is queued by somebody or by the clock',
    find: (tree) => {
      const wanted = [...findScheduled(tree), ...findQueued(tree).map(({ task }) => task)];
      return listTasks(tree).filter((task) => !wanted.includes(task));
    },
    examples: [{ files: { 'tasks/a/do_it.ts': '' }, says: 'a/do_it' }],
  },
  {
    name: 'every refusal raised in SQL is in the catalogue',
    find: (tree) =>
      filesOf(tree, SQL_FILE).flatMap(({ path, text }) =>
        findRefused(text)
          .filter(({ names }) => names.length !== 1 || !Object.hasOwn(refusals, names[0] ?? ''))
          .map(({ statement, names }) => `${path}: ${names.join(', ') || statement}`),
      ),
    examples: [
      {
        files: {
          'db/fixtures/a/b.sql': `raise exception using errcode = 'ZREFU', message = 'too_late';`,
        },
        says: 'db/fixtures/a/b.sql: too_late',
      },
      { files: { 'db/fixtures/a/b.sql': `raise sqlstate 'ZREFU';` }, says: 'ZREFU' },
    ],
  },
  {
    name: 'the environment is read in src/config.ts, by command-line tools and by the tests’ support only',
    find: (tree) =>
      filesOf(tree, /^(?:src|tasks|db|test)\/.*\.(?:ts|tsx|mjs)$/)
        .filter(
          ({ path }) =>
            !/^src\/config\.ts$|^src\/cli\/main\.ts$|^src\/runtime\/|^test\/support\//.test(path),
        )
        .filter(({ text }) =>
          /\bprocess\s*(?:\.\s*env\b|\[\s*['"]env['"])|\bimport\.meta\.env\b/.test(text),
        )
        .map(({ path }) => path),
    examples: [
      { files: { 'src/base/log.ts': 'process.env.LEVEL' }, says: 'src/base/log.ts' },
      { files: { 'test/a.test.ts': `process['env']` }, says: 'test/a.test.ts' },
    ],
  },
  {
    name: 'no test stands alone or aside, and a skipped one prints why',
    find: (tree) =>
      filesOf(tree, TEST_FILE).flatMap(({ path, text }) => [
        ...matches(
          text,
          /\b(?:test|it|describe)((?:\.\w+)*\.(?:only|skip|todo|fails|skipIf|runIf))\b/g,
        ).map((aside) => `${path}: ${aside}`),
        ...(text.match(/(?<![.\w])skip\((?:[^,()]|\([^()]*\))*\)/g) ?? []).map(
          (skip) => `${path}: ${skip}`,
        ),
      ]),
    examples: [
      {
        files: { 'test/a.test.ts': `test${'.only'}('a', () => {})` },
        says: 'test/a.test.ts: .only',
      },
      {
        files: { 'test/a.test.ts': `describe${'.each'}${'.skip'}([])` },
        says: 'test/a.test.ts: .each.skip',
      },
      {
        files: { 'test/a.test.ts': `test('a', ({ skip }) => skip())` },
        says: 'test/a.test.ts: skip()',
      },
    ],
  },
  {
    name: 'no statement of the service claims to be a test’s own',
    find: (tree) =>
      filesOf(tree, /^(?:src|tasks|db)\//)
        .filter(({ text }) => text.includes(TRIAL))
        .map(({ path }) => path),
    examples: [{ files: { 'src/a/queries.ts': `select ${TRIAL} 1` }, says: 'src/a/queries.ts' }],
  },
];
