import type { ColumnRef, JoinExpr, Node, RangeFunction, RangeVar, WithClause } from 'libpg-query';
import { columnPath, conjuncts, equalities, findAll, functionName, tableName } from './sql_tree.ts';

/** Qualified names of the tables that rules are about. */
export type Tables = { tenant: ReadonlySet<string>; reference: ReadonlySet<string> };

/** Something that a query reads from, and whether all its rows are known to be of the given project. */
export type Item = {
  alias: string;
  table: string | null;
  /** A derived table's query, or a function's call: bound when what it is made of is. */
  query: Node | null;
  call: RangeFunction | null;
  isBound: boolean;
};

type Condition = { sides: [Node, Node]; mayBind: Item[] | null };

/** One query's FROM and WHERE, inside that of the query around it. */
export type Level = {
  tables: Tables;
  items: Item[];
  conditions: Condition[];
  /** The names of WITH, and whether their rows are of the given project. */
  names: Map<string, boolean>;
  outer: Level | null;
};

export type Parts = {
  with?: WithClause | undefined;
  target?: RangeVar | undefined;
  from?: Node[] | undefined;
  where?: Node | undefined;
};

const newItem = (alias: string, rest: Partial<Item> = {}): Item => ({
  alias,
  table: null,
  query: null,
  call: null,
  isBound: false,
  ...rest,
});

const findName = (level: Level | null, name: string): boolean | undefined =>
  level ? (level.names.get(name) ?? findName(level.outer, name)) : undefined;

const readTable = (table: RangeVar, level: Level): Item => {
  const alias = table.alias?.aliasname ?? table.relname ?? '';
  const named = table.schemaname ? undefined : findName(level, table.relname ?? '');
  return named === undefined
    ? newItem(alias, { table: tableName(table) })
    : newItem(alias, { isBound: named });
};

/** Which side of a join a condition in its ON keeps rows from. */
const boundBy = ({ jointype }: JoinExpr, left: Item[], right: Item[]): Item[] => {
  if (jointype === 'JOIN_INNER') return [...left, ...right];
  if (jointype === 'JOIN_LEFT') return right;
  return jointype === 'JOIN_RIGHT' ? left : [];
};

const addConditions = (level: Level, condition: Node | undefined, mayBind: Item[] | null): void => {
  for (const sides of conjuncts(condition).flatMap(equalities)) {
    level.conditions.push({ sides, mayBind });
  }
};

const readFrom = (node: Node, level: Level): Item[] => {
  if ('RangeVar' in node) return [readTable(node.RangeVar, level)];
  if ('RangeSubselect' in node) {
    const { alias, subquery } = node.RangeSubselect;
    return [newItem(alias?.aliasname ?? '', { query: subquery ?? null })];
  }
  if ('RangeFunction' in node) {
    const [call] = findAll(node, 'FuncCall');
    const alias = node.RangeFunction.alias?.aliasname ?? (call ? functionName(call) : '');
    return [newItem(alias, { call: node.RangeFunction })];
  }
  if ('JoinExpr' in node) {
    const { larg, rarg, quals } = node.JoinExpr;
    const left = larg ? readFrom(larg, level) : [];
    const right = rarg ? readFrom(rarg, level) : [];
    addConditions(level, quals, boundBy(node.JoinExpr, left, right));
    return [...left, ...right];
  }
  if ('RangeTableSample' in node && node.RangeTableSample.relation) {
    return readFrom(node.RangeTableSample.relation, level);
  }
  return [newItem('')];
};

const hasProject = ({ tables }: Level, { table, query, call }: Item): boolean =>
  table === null
    ? query !== null || call === null
    : tables.tenant.has(table) || tables.reference.has(table);

/** What a column belongs to: something read from, an argument of the function around, or nobody can say. */
const resolve = (column: ColumnRef, level: Level): Item | 'argument' | null => {
  const path = columnPath(column);
  const qualifier = path.slice(0, -1).join('.');
  if (qualifier === '' && path[0]?.startsWith('v_')) return 'argument';
  for (let here: Level | null = level; here; here = here.outer) {
    if (qualifier === '') {
      const owners = here.items.filter((item) => hasProject(level, item));
      if (owners.length > 0) return owners.length === 1 ? (owners[0] ?? null) : null;
    } else {
      const owner = here.items.find(
        ({ alias, table }) => alias === qualifier || table === qualifier,
      );
      if (owner) return owner;
    }
  }
  return qualifier === '' ? null : 'argument';
};

/** Whether an expression can only be the project that the statement was given. */
export const isGiven = (node: Node | undefined, level: Level): boolean => {
  if (!node) return false;
  if ('ParamRef' in node) return true;
  // Recorded, an argument of a function around has lost its first name: $1.project_id.
  if ('A_Indirection' in node) return isGiven(node.A_Indirection.arg, level);
  if ('A_Const' in node) return !node.A_Const.isnull;
  if ('TypeCast' in node) return isGiven(node.TypeCast.arg, level);
  if (!('ColumnRef' in node)) return false;
  const owner = resolve(node.ColumnRef, level);
  if (owner === 'argument') return true;
  return owner !== null && owner.isBound && columnPath(node.ColumnRef).at(-1) === 'project_id';
};

/** `project_id => …` of a function that answers with rows of that project. */
const isCallBound = (call: RangeFunction, level: Level): boolean =>
  findAll(call, 'NamedArgExpr').some(
    ({ name, arg }) => name === 'project_id' && isGiven(arg, level),
  );

const findBindable = ({ sides: [a, b], mayBind }: Condition, level: Level): Item | undefined => {
  for (const [mine, other] of [
    [a, b],
    [b, a],
  ] as const) {
    if (!('ColumnRef' in mine) || columnPath(mine.ColumnRef).at(-1) !== 'project_id') continue;
    const owner = resolve(mine.ColumnRef, level);
    if (owner === null || owner === 'argument' || owner.isBound || !level.items.includes(owner))
      continue;
    if (mayBind && !mayBind.includes(owner)) continue;
    if (isGiven(other, level)) return owner;
  }
  return undefined;
};

/** Follows the equalities until nothing more is known. */
const settle = (level: Level): void => {
  for (let next: Item | undefined; ; next.isBound = true) {
    next =
      level.items.find(
        ({ isBound, query, call }) =>
          !isBound &&
          ((query !== null && exposesProject(query, level)) ||
            (call !== null && isCallBound(call, level))),
      ) ?? level.conditions.map((condition) => findBindable(condition, level)).find(Boolean);
    if (!next) return;
  }
};

export const openLevel = (tables: Tables, parts: Parts, outer: Level | null): Level => {
  const level: Level = { tables, items: [], conditions: [], names: new Map(), outer };
  for (const { ctename = '', ctequery } of findAll(parts.with?.ctes, 'CommonTableExpr')) {
    level.names.set(ctename, ctequery !== undefined && exposesProject(ctequery, level));
  }
  if (parts.target) level.items.push(readTable(parts.target, level));
  for (const node of parts.from ?? []) level.items.push(...readFrom(node, level));
  addConditions(level, parts.where, null);
  settle(level);
  return level;
};

/** Whether the rows of a query are all of the given project, and say so in a column project_id. */
export const exposesProject = (query: Node, outer: Level): boolean => {
  if (!('SelectStmt' in query)) return false;
  const { op, larg, rarg, targetList = [], withClause, fromClause, whereClause } = query.SelectStmt;
  const parts = { with: withClause, from: fromClause, where: whereClause };
  const level = openLevel(outer.tables, parts, outer);
  if (op !== 'SETOP_NONE') {
    return [larg, rarg].every((arm) => arm && exposesProject({ SelectStmt: arm }, level));
  }
  return targetList.some((target) => {
    if (!('ResTarget' in target)) return false;
    const { name, val } = target.ResTarget;
    const path = val && 'ColumnRef' in val ? columnPath(val.ColumnRef) : [];
    if (path.at(-1) === '*') {
      const meant = level.items.filter(({ alias }) => path.length === 1 || alias === path[0]);
      return meant.length > 0 && meant.every(({ isBound }) => isBound);
    }
    return (name ?? path.at(-1)) === 'project_id' && isGiven(val, level);
  });
};
