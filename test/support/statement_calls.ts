import type { Node, TypeCast } from 'libpg-query';
import {
  columnPath,
  findAll,
  findTables,
  functionName,
  operatorName,
  typeName,
  walk,
} from './sql_tree.ts';

export type Volatility = 'immutable' | 'stable' | 'volatile';

export type CallFacts = {
  /** The worst of all functions of that name: parsing alone cannot tell overloads apart. */
  volatilityOf: (name: string) => Volatility;
  /** The name of every column that holds a moment or a date: a text does not say of what type a column is. */
  timeColumns: ReadonlySet<string>;
};

type Call = { name: string; volatility: Volatility; takesColumn: boolean };

const isArgument = (path: string[], aliases: ReadonlySet<string>): boolean =>
  path.length === 1 ? (path[0] ?? '').startsWith('v_') : !aliases.has(path.slice(0, -1).join('.'));

/** Every name that a column of something read may be qualified with. */
const findAliases = (statement: Node): ReadonlySet<string> => {
  const aliases = new Set<string>(['excluded']);
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of ['aliasname', 'relname', 'ctename'] as const) {
      const name = (node as Partial<Record<string, unknown>>)[key];
      if (typeof name === 'string') aliases.add(name);
    }
    for (const value of Object.values(node)) look(value);
  };
  look(statement);
  for (const table of findTables(statement)) aliases.add(table);
  return aliases;
};

const MAKE_INTERVALS = ['make_interval', 'justify_days', 'justify_hours', 'justify_interval'];

/** Whether an expression says of itself that it is an interval. */
const isInterval = (node: Node | undefined): boolean => {
  if (!node) return false;
  if ('TypeCast' in node) return typeName(node.TypeCast) === 'interval';
  if ('FuncCall' in node) {
    return MAKE_INTERVALS.includes(functionName(node.FuncCall).replace(/^pg_catalog\./, ''));
  }
  return 'A_Expr' in node && [node.A_Expr.lexpr, node.A_Expr.rexpr].some(isInterval);
};

const TIMES = ['timestamptz', 'timestamp', 'date', 'timetz', 'time', 'interval'];

/** Whether a cast reads or writes a time, which the zone and the style of the session have a say in. */
const isOfTime = (cast: TypeCast, { timeColumns }: CallFacts): boolean => {
  const { arg } = cast;
  // What is given has its type from the start: nothing is called.
  if (!arg || 'A_Const' in arg || 'ParamRef' in arg) return false;
  if (TIMES.includes(typeName(cast))) return true;
  return 'ColumnRef' in arg && timeColumns.has(columnPath(arg.ColumnRef).at(-1) ?? '');
};

/** What a node calls by itself, those below it left out. */
const readCall = (node: Node, facts: CallFacts): Omit<Call, 'takesColumn'> | null => {
  // current_timestamp and its like.
  if ('SQLValueFunction' in node) return { name: 'current_*', volatility: 'stable' };
  if ('FuncCall' in node) {
    const name = functionName(node.FuncCall);
    return { name, volatility: facts.volatilityOf(name) };
  }
  if ('TypeCast' in node) {
    if (!isOfTime(node.TypeCast, facts)) return null;
    return { name: `::${typeName(node.TypeCast)}`, volatility: 'stable' };
  }
  if (!('A_Expr' in node)) return null;
  const name = operatorName(node.A_Expr);
  if (!['+', '-'].includes(name)) return null;
  return [node.A_Expr.lexpr, node.A_Expr.rexpr].some(isInterval)
    ? { name: `${name} interval`, volatility: 'stable' }
    : null;
};

/**
 * The functions that are called below a node, and whether a column is among what they are given. Operators and casts
 * call some too. `+` and `-` do where a side says that it is an interval, for a moment plus an interval is stable;
 * a cast does to a type of time, and of a column whose name is that of a time.
 *
 * What cannot be seen from a text: an interval, or a time, that comes as a variable or as a column of a derived table;
 * what `||` and comparisons do with times. What is taken for more than it is: `date` and `timestamp` plus an interval,
 * and a cast between these two, are immutable.
 */
export const findCalls = (tree: unknown, statement: Node, facts: CallFacts): Call[] => {
  const aliases = findAliases(statement);
  const calls: Call[] = [];
  walk(tree, (kind, node) => {
    const call = readCall({ [kind]: node } as unknown as Node, facts);
    if (!call) return;
    const takesColumn = findAll(node, 'ColumnRef').some(
      (column) => !isArgument(columnPath(column), aliases),
    );
    calls.push({ ...call, takesColumn });
  });
  return calls;
};
