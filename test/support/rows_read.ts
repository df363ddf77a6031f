import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import type { TestDatabase } from './database.ts';

/** A plan that knows what is asked for, and one that does for whatever may be. */
export const PLAN_MODES = ['force_generic_plan', 'force_custom_plan'] as const;
export type PlanMode = (typeof PLAN_MODES)[number];

const Read = z.strictObject({ read: z.int() });
const countRead = ({ tx }: Scope, table: string) =>
  tx.oneFirst(sql.type(Read)`
    select (idx_tup_fetch + coalesce(seq_tup_read, 0))::integer as read from pg_stat_xact_all_tables
    where relid = ${table}::regclass
  `);

/** What some work answers in a plan of this kind, and how many rows of a table were read for it. */
export const withRowsRead = <T>(
  { deps }: TestDatabase,
  { projectId, table, mode }: { projectId: string; table: string; mode: PlanMode },
  work: (scope: Scope) => Promise<T>,
): Promise<{ answer: T; read: number }> =>
  inProject(deps, projectId, async (scope) => {
    await scope.tx.query(sql.unsafe`select set_config('plan_cache_mode', ${mode}, true)`);
    const before = await countRead(scope, table);
    const answer = await work(scope);
    return { answer, read: (await countRead(scope, table)) - before };
  });
