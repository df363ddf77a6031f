import type { FuncCall, Node } from 'libpg-query';
import { findAll, functionName } from './sql_tree.ts';

/** Statements that are about the session by their kind. */
const OF_THE_SESSION = new Map([
  ['PrepareStmt', 'prepare'],
  ['ExecuteStmt', 'execute'],
  ['DeallocateStmt', 'deallocate'],
  ['ListenStmt', 'listen'],
  ['UnlistenStmt', 'unlisten'],
  ['NotifyStmt', 'notify'],
  ['DiscardStmt', 'discard'],
]);

/** CURSOR_OPT_HOLD of Postgres. */
const WITH_HOLD = 0x20;

/** Whether a table, or what else has a name, is made for the session; what is made says so in bare parts. */
const isTemporary = (tree: unknown): boolean => {
  if (typeof tree !== 'object' || tree === null) return false;
  const { relpersistence, schemaname } = tree as { relpersistence?: string; schemaname?: string };
  return (
    relpersistence === 't' || schemaname === 'pg_temp' || Object.values(tree).some(isTemporary)
  );
};

/** `set local`, and `set transaction`, which is no other. */
const isSetForGood = (statement: Node): boolean => {
  if (!('VariableSetStmt' in statement)) return false;
  const { is_local: isLocal = false, name } = statement.VariableSetStmt;
  return !isLocal && name !== 'TRANSACTION';
};

/** Not `set_config(…, true)`. Recorded, a constant is a parameter: of those, source.test.ts looks at the text. */
const isConfiguredForGood = (call: FuncCall): boolean => {
  if (!/^(?:pg_catalog\.)?set_config$/.test(functionName(call))) return false;
  const isLocal = call.args?.[2];
  if (!isLocal || 'ParamRef' in isLocal) return !isLocal;
  return !('A_Const' in isLocal && isLocal.A_Const.boolval?.boolval === true);
};

/**
 * Rule 23: nothing outlives its transaction in a session, for a pooling proxy lends that to somebody else. Advisory
 * locks, of the session or not, are refused by rule 18.
 */
export const findSessionTrouble = (statement: Node): string[] => {
  const found: string[] = [];
  const [kind = ''] = Object.keys(statement);
  const named = OF_THE_SESSION.get(kind);
  if (named) found.push(`23: ${named}`);
  if (isTemporary(statement)) found.push('23: a temporary table');
  if (isSetForGood(statement)) found.push('23: set for the session');
  if (findAll(statement, 'FuncCall').some(isConfiguredForGood)) {
    found.push('23: set_config for the session');
  }
  if (findAll(statement, 'DeclareCursorStmt').some(({ options = 0 }) => options & WITH_HOLD)) {
    found.push('23: a cursor with hold');
  }
  return found;
};
