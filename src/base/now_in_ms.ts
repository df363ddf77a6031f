import { sql } from './db.ts';

/**
 * Now, in whole milliseconds, as columns keep it. Rounded into one, it may lie half a millisecond ahead, and the very
 * next statement finds nothing due.
 */
export const nowInMs = sql.fragment`date_trunc('milliseconds', statement_timestamp())`;
