import { parsePlPgSQL } from 'libpg-query';
import type pg from 'pg';
import { listTables } from './catalogue.ts';
import { parseStatements } from './sql_tree.ts';
import type { Node } from './sql_tree.ts';
import type { Facts, Volatility } from './statement_rules.ts';

/**
 * Marks a statement that a test runs as one of the service's roles, to see it refused. It is a test's
 * own and not judged; nothing in src may bear it (tidy.test.ts).
 */
export const TRIAL = '/* trial */';

/** How assignments in PL/pgSQL are recorded, with their target, and expressions, which stand alone. */
const ASSIGNED = /^\s*v_\w+\s*:=\s*/;
const STANDS_ALONE = /^\s*(?:(?:not\s+)?exists\b|v_\w+\b|\w+\.\w+\s*\()/;

/** What an assignment or an expression asks is a query like any other. */
const toSelect = (query: string): string =>
  ASSIGNED.test(query)
    ? query.replace(ASSIGNED, 'select ')
    : query.replace(STANDS_ALONE, (start) => `select ${start}`);

/** Recorded with its name as a parameter, which no parser takes; it reads and writes no table. */
const SAVEPOINT = /^\s*(?:savepoint|release(?: savepoint)?|rollback to(?: savepoint)?) \$\d+\s*$/i;

export type Recorded = { role: string; query: string };
export type Recording = {
  isThere: boolean;
  /** Why there is none. */
  why: string;
  statements: Recorded[];
  /** Whether the server had room for every statement. */
  isWhole: boolean;
};

/** What the server was made to do by the service's two roles since the tests began, each statement once. */
export const readRecord = async (server: pg.Client): Promise<Recording> => {
  try {
    const { rows } = await server.query<Recorded>(
      `select distinct r.rolname as role, s.query
      from pg_stat_statements as s
      join pg_roles as r on r.oid = s.userid
      left join pg_database as d on d.oid = s.dbid
      where r.rolname in ('trunkline_runtime', 'trunkline_queue')
      and (d.datname is null or d.datname like 'test\\_%') and strpos(s.query, $1) = 0
      order by 1, 2`,
      [TRIAL],
    );
    const { rows: info } = await server.query<{ is_whole: boolean }>(
      'select dealloc = 0 as is_whole from pg_stat_statements_info',
    );
    const statements = rows
      .filter(({ query }) => !SAVEPOINT.test(query))
      .map(({ role, query }) => ({ role, query: toSelect(query) }));
    return { isThere: true, why: '', statements, isWhole: info[0]?.is_whole ?? false };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { isThere: false, why, statements: [], isWhole: false };
  }
};

const listVolatilities = async (client: pg.Client): Promise<Map<string, Volatility>> => {
  const { rows } = await client.query<{ name: string; volatility: Volatility }>(`
    select name, case max(rank) when 1 then 'immutable' when 2 then 'stable' else 'volatile' end as volatility
    from (
      select unnest(array[proname, pronamespace::regnamespace || '.' || proname]) as name,
        position(provolatile::text in 'isv') as rank
      from pg_proc
    ) as every_function
    group by name`);
  return new Map(rows.map(({ name, volatility }) => [name, volatility]));
};

/** Columns of our own tables, of moments and of dates. */
const listTimeColumns = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(`
    select distinct attname as name
    from pg_attribute as att join pg_class as rel on rel.oid = att.attrelid
    where rel.relkind in ('r', 'p') and att.attnum > 0
    and att.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype)
    and rel.relnamespace::regnamespace::text !~ '^(pg_.*|information_schema|public|graphile_.*)$'`);
  return rows.map(({ name }) => name);
};

/** What the rules need to know, from the system tables of a migrated database. */
export const readRuleFacts = async (client: pg.Client): Promise<Facts> => {
  const volatilities = await listVolatilities(client);
  return {
    tables: {
      tenant: new Set(await listTables(client, 'tenant')),
      reference: new Set(await listTables(client, 'reference')),
    },
    timeColumns: new Set(await listTimeColumns(client)),
    volatilityOf: (name) => volatilities.get(name) ?? 'volatile',
  };
};

type Routine = { name: string; language: string; source: string; definition: string };

/** As what PL/pgSQL reads a text; every number from here on is an assignment, with its target. */
const PARSE_MODES = { statement: 0, expression: 2, assignment: 3 };
const TARGET = /^[^=]*?:?=/;

type Expression = { query: string; parseMode: number };

const isExpression = (node: object): node is Expression => 'query' in node && 'parseMode' in node;

/** Every query text in a parsed PL/pgSQL function, conditions and assignments included. */
const findQueries = (tree: unknown): Expression[] => {
  if (typeof tree !== 'object' || tree === null) return [];
  return isExpression(tree) ? [tree] : Object.values(tree).flatMap(findQueries);
};

const toStatement = ({ query, parseMode }: Expression): string => {
  if (parseMode === PARSE_MODES.statement) return query;
  return `select ${parseMode < PARSE_MODES.assignment ? query : query.replace(TARGET, '')}`;
};

/** The statements inside our functions: what the planner inlines is never recorded under its own name. */
export const listFunctionStatements = async (
  client: pg.Client,
): Promise<{ name: string; statement: Node }[]> => {
  const { rows } = await client.query<Routine>(`
    select p.oid::regproc::text as name, lanname as language, prosrc as source, pg_get_functiondef(p.oid) as definition
    from pg_proc as p join pg_language as l on l.oid = p.prolang
    where p.prokind = 'f' and lanname in ('sql', 'plpgsql')
    and pronamespace::regnamespace::text !~ '^(pg_.*|information_schema|public|graphile_.*)$'
    order by 1`);
  const found: { name: string; statement: Node }[] = [];
  for (const { name, language, source, definition } of rows) {
    const texts =
      language === 'sql' ? [source] : findQueries(await parsePlPgSQL(definition)).map(toStatement);
    for (const text of texts) {
      for (const statement of await parseStatements(text)) found.push({ name, statement });
    }
  }
  return found;
};
