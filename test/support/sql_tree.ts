import { parse } from 'libpg-query';
import type { A_Expr, ColumnRef, FuncCall, Node, RangeVar, TypeCast } from 'libpg-query';

export type { Node } from 'libpg-query';

/** The statements of a text, as Postgres itself reads them. */
export const parseStatements = async (text: string): Promise<Node[]> => {
  const { stmts = [] } = await parse(text);
  return stmts.flatMap(({ stmt }) => (stmt ? [stmt] : []));
};

type Visit = (kind: string, node: unknown) => 'skip' | void;

/** Every node below, with its kind. Parts that have no kind of their own (their place says it) are looked through. */
export const walk = (tree: unknown, visit: Visit): void => {
  if (typeof tree !== 'object' || tree === null) return;
  for (const [key, value] of Object.entries(tree)) {
    const isKind = /^[A-Z]/.test(key) && !Array.isArray(tree);
    if (isKind && visit(key, value) === 'skip') continue;
    walk(value, visit);
  }
};

type KindOf<K extends string> = Extract<Node, Record<K, unknown>>[K &
  keyof Extract<Node, Record<K, unknown>>];

/** All nodes of a kind, however deep. */
export const findAll = <K extends string>(tree: unknown, kind: K): KindOf<K>[] => {
  const found: KindOf<K>[] = [];
  walk(tree, (key, node) => {
    if (key === kind) found.push(node as KindOf<K>);
  });
  return found;
};

/** The queries written inside expressions; not those inside these again, nor those in FROM or WITH. */
export const findSubqueries = (tree: unknown): Node[] => {
  const found: Node[] = [];
  walk(tree, (kind, node) => {
    if (kind === 'RangeSubselect' || kind === 'CommonTableExpr') return 'skip';
    if (kind !== 'SubLink') return undefined;
    const { subselect, testexpr } = node as { subselect: Node; testexpr?: Node };
    found.push(subselect, ...findSubqueries(testexpr));
    return 'skip';
  });
  return found;
};

/** Every table that is named anywhere: nodes of its kind, and the targets of statements, which are bare. */
export const findTables = (tree: unknown): string[] => {
  const found: string[] = [];
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('relname' in node) found.push(tableName(node as RangeVar));
    for (const value of Object.values(node)) look(value);
  };
  look(tree);
  return found;
};

export const tableName = ({ schemaname, relname }: RangeVar): string =>
  [schemaname, relname].filter(Boolean).join('.');

const strings = (nodes: Node[] = []): string[] =>
  nodes.map((node) => ('String' in node ? (node.String.sval ?? '') : '*'));

/** The parts of a column's name; `*` for all columns. */
export const columnPath = (column: ColumnRef): string[] => strings(column.fields);

export const functionName = (call: FuncCall): string => strings(call.funcname).join('.');

/** Without a schema. */
export const operatorName = ({ name }: A_Expr): string => strings(name).at(-1) ?? '';

/** Of the type that is cast to, without a schema. */
export const typeName = ({ typeName: type }: TypeCast): string => strings(type?.names).at(-1) ?? '';

/** The terms that must all be true. */
export const conjuncts = (condition: Node | undefined): Node[] => {
  if (!condition) return [];
  if ('BoolExpr' in condition && condition.BoolExpr.boolop === 'AND_EXPR') {
    return (condition.BoolExpr.args ?? []).flatMap(conjuncts);
  }
  return [condition];
};

/** The two sides of `a = b`; of `(a, b) = (c, d)`, each pair. */
export const equalities = (term: Node): [Node, Node][] => {
  if (!('A_Expr' in term) || term.A_Expr.kind !== 'AEXPR_OP') return [];
  const { lexpr, rexpr } = term.A_Expr;
  if (operatorName(term.A_Expr) !== '=' || !lexpr || !rexpr) return [];
  if (!('RowExpr' in lexpr) || !('RowExpr' in rexpr)) return [[lexpr, rexpr]];
  const others = rexpr.RowExpr.args ?? [];
  return (lexpr.RowExpr.args ?? []).flatMap((mine, index): [Node, Node][] => {
    const other = others[index];
    return other ? [[mine, other]] : [];
  });
};
