import { filesOf } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

/** Migrations from before the rule, by their number. */
const FREE_UNTIL = 48;

const MIGRATION = /^db\/(?:committed\/(\d{6})-.*\.sql|current\.sql)$/;

const isJudged = (path: string): boolean => {
  const number = MIGRATION.exec(path)?.[1];
  return number === undefined || Number(number) > FREE_UNTIL;
};

/** The statements of a migration outside of functions, without comments, each on one line. */
const statementsOf = (text: string): string[] =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, ' ')
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/(\$\w*\$)[\s\S]*?\1/g, `''`)
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
    .split(';')
    .map((statement) => statement.trim());

const CREATES_TABLE = /^create (?:unlogged |temp(?:orary)? )?table (?:if not exists )?([\w.]+)/;
const CREATES_INDEX =
  /^create (?:unique )?index (?:concurrently )?(?:if not exists )?(?:\w+ )?on (?:only )?([\w.]+)/;
const ALTERS_TABLE = /^alter table (?:if exists )?(?:only )?([\w.]+) (.*)$/;
const CONSTRAINT = /\badd (?:constraint\b|primary key\b|unique\b|check\b|foreign key\b|exclude\b)/;
/** What is made of an index that is there, or is there without a look at the rows. */
const IS_QUICK = /\bnot valid\b|\busing index\b/;

/** What a statement does to a table that was there before, for as long as it takes to read all of it. */
const judge = (statement: string, isNew: (table: string) => boolean): string | null => {
  const indexed = CREATES_INDEX.exec(statement)?.[1];
  if (indexed !== undefined)
    return isNew(indexed) ? null : `builds an index on ${indexed}: db/online is for that`;
  const [, table = '', change = ''] = ALTERS_TABLE.exec(statement) ?? [];
  const changes = change.split(/,(?= ?(?:add|drop|alter|validate) )/);
  const isSlow = changes.some((one) => CONSTRAINT.test(one) && !IS_QUICK.test(one));
  return isSlow && !isNew(table)
    ? `adds a constraint to ${table} without "not valid": validate it by itself`
    : null;
};

const findSlow = (tree: Tree): string[] =>
  filesOf(tree, MIGRATION)
    .filter(({ path }) => isJudged(path))
    .flatMap(({ path, text }) => {
      const statements = statementsOf(text);
      const made = new Set(statements.map((statement) => CREATES_TABLE.exec(statement)?.[1]));
      return statements.flatMap((statement) => {
        const wrong = judge(statement, (table) => made.has(table));
        return wrong === null ? [] : [`${path} ${wrong}`];
      });
    });

const planted = (sql: string, says: string) => ({
  files: { 'db/committed/000049-a.sql': sql },
  says,
});

export const migrationRules: Rule[] = [
  {
    name: 'a migration reads no table that was there while nobody may write',
    find: findSlow,
    examples: [
      planted(
        'create index if not exists a on delivery.sends (project_id);',
        'builds an index on delivery.sends',
      ),
      planted(
        'create table base.a (b int);\ncreate unique index\n  c on base.a_b (b);',
        'builds an index on base.a_b',
      ),
      // In a transaction it cannot be built concurrently.
      planted('create index concurrently a on base.b (c);', 'builds an index on base.b'),
      planted(
        'alter table base.a add constraint b check (c > 0);',
        'adds a constraint to base.a without',
      ),
      planted(
        'alter table base.a\n  add constraint b check (c > 0) not valid,\n  add foreign key (d) references base.e;',
        'adds a constraint to base.a without',
      ),
      {
        files: { 'db/current.sql': 'alter table only base.a add unique (b);' },
        says: 'db/current.sql adds a constraint to base.a',
      },
    ],
  },
];
