import type { Node, OnConflictClause } from 'libpg-query';
import { findUnboundTables } from './project_rule.ts';
import { findSessionTrouble } from './session_rule.ts';
import type { Tables } from './sql_scope.ts';
import { columnPath, findAll, findTables, functionName } from './sql_tree.ts';
import { findCalls } from './statement_calls.ts';
import type { CallFacts } from './statement_calls.ts';

export type { Volatility } from './statement_calls.ts';

/** What the rules need to know of the database. */
export type Facts = CallFacts & { tables: Tables };

const conflictClauses = (statement: Node): OnConflictClause[] =>
  findAll(statement, 'InsertStmt').flatMap(({ onConflictClause }) =>
    onConflictClause?.action === 'ONCONFLICT_UPDATE' ? [onConflictClause] : [],
  );

/** Rule 1, the part that only statements can break: a row never changes its project. */
const findMoves = (statement: Node): string[] => {
  const changed = [
    ...findAll(statement, 'UpdateStmt').flatMap(({ targetList = [] }) => targetList),
    ...conflictClauses(statement).flatMap(({ targetList = [] }) => targetList),
  ];
  return changed.some((target) => 'ResTarget' in target && target.ResTarget.name === 'project_id')
    ? ['1: project_id is updated']
    : [];
};

/**
 * Rule 14: what ON CONFLICT … DO UPDATE sets and asks uses parameters, excluded.*, the row that is there,
 * and immutable functions. No subqueries.
 */
const findConflictTrouble = (statement: Node, facts: Facts): string[] =>
  conflictClauses(statement).flatMap(({ targetList, whereClause }) => {
    const parts = [targetList, whereClause];
    return [
      ...findCalls(parts, statement, facts)
        .filter(({ volatility }) => volatility !== 'immutable')
        .map(
          ({ name, volatility }) =>
            `14: on conflict do update calls ${name}, which is ${volatility}`,
        ),
      ...findAll(parts, 'SubLink').map(() => '14: on conflict do update asks a subquery'),
    ];
  });

/** Rule 15: an UPDATE or DELETE must come out the same on every node that runs it. */
const findUnsteadyChanges = (statement: Node, facts: Facts): string[] => {
  const changes = [...findAll(statement, 'UpdateStmt'), ...findAll(statement, 'DeleteStmt')];
  return changes.flatMap((change) => {
    const unsteady = [
      ...findAll(change, 'CaseExpr'),
      ...findAll(change, 'CoalesceExpr'),
      change.returningClause,
    ].flatMap((part) => findCalls(part, statement, facts));
    return [
      ...findCalls(change, statement, facts)
        .filter(
          ({ volatility, takesColumn }) =>
            volatility === 'volatile' || (volatility === 'stable' && takesColumn),
        )
        .map(
          ({ name, volatility }) =>
            `15: a change calls ${name}, which is ${volatility}${volatility === 'stable' ? ', with a column' : ''}`,
        ),
      ...unsteady
        .filter(({ volatility }) => volatility !== 'immutable')
        .map(({ name }) => `15: a change calls ${name} inside case, coalesce or returning`),
    ];
  });
};

const WRITING = ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'];

/** Rule 16: forms that a sharded database runs differently, or not at all. */
const findForbiddenForms = (statement: Node): string[] => {
  const found: string[] = [];
  for (const { selectStmt } of findAll(statement, 'InsertStmt')) {
    if (
      selectStmt &&
      'SelectStmt' in selectStmt &&
      findAll(selectStmt.SelectStmt.valuesLists, 'SubLink').length > 0
    ) {
      found.push('16: a subquery inside values');
    }
  }
  if (findAll(statement, 'MergeStmt').length > 0) found.push('16: merge');
  if (findAll(statement, 'CurrentOfExpr').length > 0) found.push('16: where current of');
  if (findAll(statement, 'RangeTableSample').length > 0) found.push('16: tablesample');
  if (findAll(statement, 'ColumnRef').some((column) => columnPath(column).at(-1) === 'ctid')) {
    found.push('16: ctid');
  }
  const writes = findAll(statement, 'CommonTableExpr').some(({ ctequery }) =>
    WRITING.includes(Object.keys(ctequery ?? {})[0] ?? ''),
  );
  return writes ? [...found, '16: a CTE that changes data'] : found;
};

/** Rule 18: a lock on a row follows the tenant to its node, an advisory lock does not. */
const findAdvisoryLocks = (statement: Node): string[] =>
  findAll(statement, 'FuncCall')
    .map(functionName)
    .filter((name) => /advisory_(xact_)?(un)?lock/.test(name))
    .map((name) => `18: ${name}`);

const touches = (statement: Node, tables: ReadonlySet<string>): boolean =>
  findTables(statement).some((table) => tables.has(table));

/** What holds for every statement of the service, whatever it is about. */
const findAnywhere = (statement: Node): string[] => [
  ...findAdvisoryLocks(statement),
  ...findSessionTrouble(statement),
];

/** What a statement that works for one project breaks, each with the number of its rule. */
export const judge = (statement: Node, facts: Facts): string[] => {
  const { tenant, reference } = facts.tables;
  if (!touches(statement, tenant) && !touches(statement, reference)) return findAnywhere(statement);
  return [
    ...new Set([
      ...findMoves(statement),
      ...findUnboundTables(statement, facts.tables),
      ...findConflictTrouble(statement, facts),
      ...findUnsteadyChanges(statement, facts),
      ...findForbiddenForms(statement),
      ...findAnywhere(statement),
    ]),
  ];
};

/** Rule 13: what looks across projects only reads, and locks nothing. */
export const judgeAcrossProjects = (statement: Node, { tables }: Facts): string[] => {
  if (!touches(statement, tables.tenant)) return [];
  if (!('SelectStmt' in statement) || findForbiddenForms(statement).length > 0) {
    return ['13: a change across projects'];
  }
  return findAll(statement, 'LockingClause').length > 0 ? ['13: a lock across projects'] : [];
};
