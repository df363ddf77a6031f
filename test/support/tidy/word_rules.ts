import { FRONT_DOORS } from './map.ts';
import { filesOf, matches } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

const README = /(?:^|\/)README\.md$/;
const TASK_FILE = /^tasks\/\w+\/\w+\.ts$/;

/** An exported function and whether a doc comment ends right above it. */
const EXPORTED =
  /(\*\/\n)?^export (?:const (\w+)(?:: [^=]+)? =\s+(?:async )?(?:<[^>]*>)?\(|(?:async )?function (\w+))/gm;

/** `name = 2 * OTHER_MS`: what constants of the code are, where they are plain arithmetic. */
const readConstants = (tree: Tree): Map<string, number> => {
  const texts = filesOf(tree, /^src\/.*\.ts$/).map(({ text }) => text);
  const constants = new Map<string, number>();
  // Twice, for those that are made of others.
  for (const text of [...texts, ...texts]) {
    for (const [, name = '', value = ''] of text.matchAll(
      /^(?:export )?const ([A-Z][A-Z0-9_]+) =\s+([^;]+);/gm,
    )) {
      const result = calculate(value, constants);
      if (result !== null) constants.set(name, result);
    }
  }
  return constants;
};

/** Products and quotients of numbers and known constants; null for anything else. */
const calculate = (expression: string, constants: Map<string, number>): number | null => {
  const [first = '', ...rest] = expression.split(/\s*([*/])\s*/);
  const valueOf = (term: string): number =>
    /^[\d_]+(?:\.\d+)?$/.test(term)
      ? Number(term.replaceAll('_', ''))
      : (constants.get(term) ?? NaN);
  let result = valueOf(first);
  for (let index = 0; index < rest.length; index += 2) {
    const value = valueOf(rest[index + 1] ?? '');
    result = rest[index] === '*' ? result * value : result / value;
  }
  return Number.isNaN(result) ? null : result;
};

/** A constant's name and the first number after it on its line. */
const RESTATED = /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b[^\d\n]{0,20}?(\d[\d_, ]*(?:\.\d+)?)/g;
const BOUNDED = /_(?:MS|MAX|MIN|SECONDS|MINUTES|HOURS|DAYS|MONTHS|BYTES)$/;

const findMisstated = (tree: Tree): string[] => {
  const constants = readConstants(tree);
  return filesOf(tree, README).flatMap(({ path, text }) =>
    [...text.matchAll(RESTATED)].flatMap(([, name = '', stated = '']) => {
      const actual = constants.get(name);
      const number = Number(stated.trim().replaceAll(/[_, ]/g, ''));
      if (actual === undefined)
        return BOUNDED.test(name) ? [`${path}: ${name} is no constant of src`] : [];
      return actual === number ? [] : [`${path}: ${name} is ${actual}, not ${number}`];
    }),
  );
};

const findUnlisted = (tree: Tree): string[] => {
  const readme = tree.paths.includes('tasks/README.md') ? tree.read('tasks/README.md') : '';
  return filesOf(tree, TASK_FILE).flatMap(({ path }) => {
    const task = path.replace(/^tasks\/|\.ts$/g, '');
    const mentions = readme
      .split('\n')
      .filter((line) => line.startsWith('|') && line.includes(`\`${task}\``));
    return mentions.length === 1
      ? []
      : [`tasks/README.md has ${mentions.length} lines for ${task}`];
  });
};

/** Paragraphs of `src/DECISIONS.md` that stand before a newer one, or twice. */
const findMisplaced = (text: string): string[] => {
  const headings = matches(text, /^\*\*(\d{4}-\d\d-\d\d · .{1,80})/gm);
  return headings.filter(
    (heading, at) =>
      headings.indexOf(heading) !== at ||
      (headings[at - 1] ?? '9').slice(0, 10) < heading.slice(0, 10),
  );
};

export const wordRules: Rule[] = [
  {
    name: 'decisions stand once, the newest first',
    find: (tree) =>
      filesOf(tree, /^src\/DECISIONS\.md$/).flatMap(({ text }) => findMisplaced(text)),
    examples: [
      {
        files: { 'src/DECISIONS.md': '**2026-11-20 · Old.** No.\n\n**2026-11-21 · New.** Yes.\n' },
        says: '2026-11-21 · New.',
      },
      {
        files: { 'src/DECISIONS.md': '**2026-11-20 · Old.** No.\n\n**2026-11-20 · Old.** No.\n' },
        says: '2026-11-20 · Old.',
      },
    ],
  },
  {
    name: 'every function of a front door says what it promises',
    find: (tree) =>
      filesOf(tree, /^src\//)
        .filter(({ path }) => FRONT_DOORS.has(path))
        .flatMap(({ path, text }) =>
          [...text.matchAll(EXPORTED)]
            .filter(([, comment]) => comment === undefined)
            .map(([, , constant, named]) => `${path}: ${constant ?? named ?? ''}`),
        ),
    examples: [
      {
        files: {
          'src/ingest/ingest.ts':
            'export const A_MAX = 1;\nexport const accept = async (\n  x: X,\n) => {};\n',
        },
        says: 'src/ingest/ingest.ts: accept',
      },
      {
        files: {
          'src/ingest/ingest.ts':
            '/** Yes. */\nexport const a = <T>(x: T) => x;\n\nexport function b() {}\n',
        },
        says: 'src/ingest/ingest.ts: b',
      },
    ],
  },
  {
    name: 'every task says what it does and why it is safe to run twice',
    find: (tree) =>
      filesOf(tree, TASK_FILE)
        .filter(
          ({ text }) =>
            !/\/\*\*(?:(?!\*\/)[\s\S])*\bSafe to\b(?:(?!\*\/)[\s\S])*\*\/\nexport default \w*[tT]ask\(/.test(
              text,
            ),
        )
        .map(({ path }) => path),
    examples: [
      {
        files: { 'tasks/a/b.ts': '/** Does it. */\nexport default task(z, f);' },
        says: 'tasks/a/b.ts',
      },
      {
        files: {
          'tasks/a/b.ts': '/** Safe to run twice. */\nconst x = 1;\nexport default task(z, f);',
        },
        says: 'tasks/a/b.ts',
      },
    ],
  },
  {
    name: 'tasks/README.md has one line per task',
    find: (tree) => [
      ...findUnlisted(tree),
      ...matches(
        tree.paths.includes('tasks/README.md') ? tree.read('tasks/README.md') : '',
        /^\| `(\w+\/\w+)`/gm,
      )
        .filter((task) => !tree.paths.includes(`tasks/${task}.ts`))
        .map((task) => `tasks/README.md lists ${task}, which is no file`),
    ],
    examples: [
      { files: { 'tasks/a/b.ts': '' }, says: 'tasks/README.md has 0 lines for a/b' },
      { files: { 'tasks/README.md': '| `a/b` | … |\n' }, says: 'tasks/README.md lists a/b' },
    ],
  },
  {
    name: 'numbers restated in a README are those of the code',
    find: findMisstated,
    examples: [
      {
        files: { 'src/a/a.ts': 'const WAIT_MS = 2 * 1_000;', 'README.md': '| `WAIT_MS` | 1,000 |' },
        says: 'README.md: WAIT_MS is 2000, not 1000',
      },
      {
        files: { 'db/README.md': '`GONE_MAX` (7)' },
        says: 'db/README.md: GONE_MAX is no constant of src',
      },
    ],
  },
  {
    name: 'SQL functions and views begin with a promise, state volatility or whose rights they use, qualify names',
    find: (tree) =>
      filesOf(tree, /^db\/fixtures\/\w+\/\w+\.sql$/).flatMap(({ path, text }) => [
        ...(/^-- [A-Z].*\S/.test(text) ? [] : [`${path}: no promise in the first line`]),
        ...(/^language (?:sql|plpgsql) (?:immutable|stable|volatile)\b|^create .*\(security_invoker = true\)/m.test(
          text,
        )
          ? []
          : [`${path}: no volatility`]),
        ...(/^create or replace (?:function ([\w.]+)\(|view ([\w.]+) )/m
          .exec(text)
          ?.slice(1)
          .includes(
            path
              .split('/')
              .slice(2)
              .join('.')
              .replace(/\.sql$/, ''),
          )
          ? []
          : [`${path}: not the function of its name`]),
      ]),
    examples: [
      {
        files: { 'db/fixtures/a/b.sql': 'create or replace function a.b()' },
        says: 'db/fixtures/a/b.sql: no promise',
      },
      {
        files: { 'db/fixtures/a/b.sql': '-- Yes.\nlanguage sql\n' },
        says: 'db/fixtures/a/b.sql: no volatility',
      },
      {
        files: { 'db/fixtures/a/b.sql': '-- Yes.\ncreate or replace function a.c()' },
        says: 'not the function',
      },
      {
        files: { 'db/fixtures/a/b.sql': '-- Yes.\ncreate or replace view a.b as select' },
        says: 'db/fixtures/a/b.sql: no volatility',
      },
    ],
  },
];
