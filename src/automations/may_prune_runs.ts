import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';

const May = z.strictObject({ may_prune: z.boolean() });

/**
 * Returns whether runs may be removed: from a day after the migration on. Processes of the release before may run until
 * then, and they do not read enrollments.
 */
export const mayPruneRuns = async (db: Db): Promise<boolean> => {
  const row = await db.maybeOne(sql.type(May)`
    select runs_prunable_from <= now() as may_prune from base.sending
  `);
  return row?.may_prune ?? false;
};
