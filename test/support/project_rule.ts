import type { InsertStmt, Node, SelectStmt } from 'libpg-query';
import { isGiven, openLevel } from './sql_scope.ts';
import type { Level, Parts, Tables } from './sql_scope.ts';
import { findAll, findSubqueries, findTables, tableName } from './sql_tree.ts';

/** The tables of a query that are read for no given project. */
const listUnbound = (level: Level, isStrict: boolean): string[] =>
  level.items.flatMap(({ table, alias, isBound }) => {
    if (table === null || isBound) return [];
    const said = `${table} as ${alias} is not bound to the project`;
    if (level.tables.tenant.has(table)) return [`12: ${said}`];
    return isStrict && level.tables.reference.has(table) ? [`17: ${said}`] : [];
  });

/** What is inside: the queries of WITH and FROM, and those written in expressions. */
const judgeInside = (level: Level, parts: Parts, expressions: unknown): string[] => [
  ...findAll(parts.with?.ctes, 'CommonTableExpr').flatMap(({ ctequery }) =>
    judgeQuery(ctequery, level),
  ),
  ...level.items.flatMap(({ query }) => (query ? judgeQuery(query, level) : [])),
  ...findSubqueries(expressions).flatMap((query) => judgeQuery(query, level)),
];

/** Locks, recursion and grouping sets are only possible inside one project, on shared tables too. */
const isStrict = ({ lockingClause, withClause, groupClause }: SelectStmt): boolean =>
  lockingClause !== undefined ||
  withClause?.recursive === true ||
  findAll(groupClause, 'GroupingSet').length > 0;

const judgeSelect = (select: SelectStmt, outer: Level): string[] => {
  const { withClause, fromClause, whereClause, op, larg, rarg } = select;
  const parts = { with: withClause, from: fromClause, where: whereClause };
  const level = openLevel(outer.tables, parts, outer);
  if (op !== 'SETOP_NONE') {
    const arms = [larg, rarg].flatMap((arm) => (arm ? judgeSelect(arm, level) : []));
    return [...judgeInside(level, parts, []), ...arms];
  }
  return [...listUnbound(level, isStrict(select)), ...judgeInside(level, parts, select)];
};

/** Whether every row that a query adds has the given project in the column at `index`. */
const givesProject = (select: SelectStmt, index: number, outer: Level): boolean => {
  const { valuesLists, targetList, op, larg, rarg } = select;
  if (valuesLists) {
    return valuesLists.every((row) => 'List' in row && isGiven(row.List.items?.[index], outer));
  }
  const parts = { with: select.withClause, from: select.fromClause, where: select.whereClause };
  const level = openLevel(outer.tables, parts, outer);
  if (op !== 'SETOP_NONE') {
    return [larg, rarg].every((arm) => arm !== undefined && givesProject(arm, index, level));
  }
  const target = targetList?.[index];
  return target !== undefined && 'ResTarget' in target && isGiven(target.ResTarget.val, level);
};

const judgeInsert = (insert: InsertStmt, outer: Level): string[] => {
  const { relation, cols = [], selectStmt, withClause, onConflictClause, returningClause } = insert;
  const names = openLevel(outer.tables, { with: withClause }, outer);
  const table = relation ? tableName(relation) : '';
  const index = cols.findIndex((col) => 'ResTarget' in col && col.ResTarget.name === 'project_id');
  const select = selectStmt && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt : undefined;
  const isBound = index >= 0 && select !== undefined && givesProject(select, index, names);
  const around = openLevel(outer.tables, { target: relation }, names);
  return [
    ...(isBound || !outer.tables.tenant.has(table)
      ? []
      : [`12: ${table} gets rows of no given project`]),
    ...judgeInside(names, { with: withClause }, []),
    ...judgeQuery(selectStmt, names),
    ...judgeInside(around, {}, [onConflictClause, returningClause]),
  ];
};

const judgeQuery = (query: Node | undefined, outer: Level): string[] => {
  if (!query) return [];
  if ('SelectStmt' in query) return judgeSelect(query.SelectStmt, outer);
  if ('InsertStmt' in query) return judgeInsert(query.InsertStmt, outer);
  const change = 'UpdateStmt' in query ? query.UpdateStmt : null;
  const removal = 'DeleteStmt' in query ? query.DeleteStmt : null;
  const statement = change ?? removal;
  if (!statement) {
    const tables = findTables(query).filter((table) => outer.tables.tenant.has(table));
    return tables.map(
      (table) => `12: ${table} is touched by ${Object.keys(query)[0] ?? 'something'}`,
    );
  }
  const parts: Parts = {
    with: statement.withClause,
    target: statement.relation,
    from: change?.fromClause ?? removal?.usingClause,
    where: statement.whereClause,
  };
  const level = openLevel(outer.tables, parts, outer);
  return [...listUnbound(level, false), ...judgeInside(level, parts, statement)];
};

/**
 * Rule 12, and 17 for shared tables: every tenant table in a statement is restricted to the project that the
 * statement was given, by a comparison of its own or by joins that equate project_id to one that is.
 */
export const findUnboundTables = (statement: Node, tables: Tables): string[] => {
  const outside: Level = { tables, items: [], conditions: [], names: new Map(), outer: null };
  return [...new Set(judgeQuery(statement, outside))];
};
