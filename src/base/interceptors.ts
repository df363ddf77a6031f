import { SchemaValidationError } from 'slonik';
import type { Interceptor, QueryResultRow } from 'slonik';
import { isRefusalName, Refusal } from './refusal.ts';

/** Holds each row to the schema of its statement. */
export const validateRows: Interceptor = {
  name: 'validate-rows',
  transformRow: (context, query, row) => {
    const result = context.resultParser?.['~standard'].validate(row);
    if (!result) return row;
    if (result instanceof Promise) throw new TypeError('row schemas are synchronous');
    if (result.issues) throw new SchemaValidationError(query, row, result.issues);
    return result.value as QueryResultRow;
  },
};

/** SQL refuses with SQLSTATE ZREFU and a name of the catalogue (src/base/refusal.ts). */
const REFUSAL_SQLSTATE = 'ZREFU';

export const translateRefusals: Interceptor = {
  name: 'translate-refusals',
  queryExecutionError: (_context, _query, error) => {
    const cause = (error.cause ?? error) as { code?: string; message: string };
    if (cause.code === REFUSAL_SQLSTATE && isRefusalName(cause.message)) {
      throw new Refusal(cause.message, { cause: error });
    }
    return null;
  },
};
