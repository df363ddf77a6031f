import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { holdPassed, keepArms } from './arms.ts';
import { mayBeRestored } from './merges/merge_queries.ts';
import { DELETING } from './queries.ts';

/** How many entries of run logs one transaction of the daily job checks. */
export const PRUNED_ENTRIES_MAX = 1_000;

const RunId = z.strictObject({ run_id: z.uuid() });
const Since = z.strictObject({ since: z.date().nullable() });

/** Lists those of some runs that have not ended, or that an undo may restore. */
export const listUnfinished = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<Set<string>> => {
  if (runIds.length === 0) return new Set();
  const rows = await tx.any(sql.type(RunId)`
    select run_id from automations.runs
    where project_id = ${projectId} and run_id = any (${sql.array([...new Set(runIds)], 'uuid')})
    and (status <> 'ended' or run_id in (
      select merge.run_id from automations.run_merges as merge
      where merge.project_id = ${projectId} and merge.undone_at is null
      and merge.run_id = any (${sql.array([...new Set(runIds)], 'uuid')})
    ))
  `);
  return new Set(rows.map(({ run_id }) => run_id));
};

/** Returns the moment since which frequency caps of the project count email; null where there is none. */
export const findCountedSince = async ({ tx, projectId }: Scope): Promise<Date | null> => {
  const { since } = await tx.one(sql.type(Since)`
    select min(now() - (made.definition #>> '{settings,frequency_cap,per}')::interval) as since
    from automations.versions as made
    join automations.automations as automation
      on automation.project_id = made.project_id and automation.automation_id = made.automation_id
    where made.project_id = ${projectId} and automation.project_id = ${projectId}
    and automation.status not in ('archived', ${DELETING})
  `);
  return since;
};

const deleteLogs = async (scope: Scope, runIds: string[], before: Date): Promise<number> => {
  const { tx, projectId } = scope;
  const passed = await holdPassed(scope, runIds);
  const rows = await tx.any(sql.type(RunId)`
    select run.run_id from automations.runs as run
    where run.project_id = ${projectId} and run.run_id = any (${sql.array(runIds, 'uuid')})
    and run.status = 'ended' and run.ended_at < ${before.toISOString()}::timestamptz
    and not ${mayBeRestored(projectId)}
    order by run.run_id
    for update of run skip locked
  `);
  const ids = sql.array(
    rows.map(({ run_id }) => run_id),
    'uuid',
  );
  const gone = new Set(rows.map(({ run_id }) => run_id));
  await keepArms(
    scope,
    passed.filter(({ run_id }) => gone.has(run_id)),
  );
  await tx.query(sql.unsafe`
    delete from automations.calls where project_id = ${projectId} and run_id = any (${ids})
  `);
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.run_log where project_id = ${projectId} and run_id = any (${ids})
  `);
  return rowCount;
};

/**
 * Deletes what the next old runs decided, and their webhook calls. The runs themselves stay until the job of runs, and
 * the arms of splits stay. A run that an undo may restore keeps all of it. Returns how many entries went, and where the
 * next batch begins.
 */
export const pruneRunLogs = async (
  scope: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const entries = await scope.tx.any(sql.type(RunId)`
    select run_id from automations.run_log
    where project_id = ${scope.projectId} and run_id > ${after} and run_id < ${firstIdAt(before)}
    order by run_id, entry
    limit ${PRUNED_ENTRIES_MAX}
  `);
  const ids = [...new Set(entries.map(({ run_id }) => run_id))];
  const pruned = await deleteLogs(scope, ids, before);
  return { pruned, after: entries.length < PRUNED_ENTRIES_MAX ? null : (ids.at(-1) ?? null) };
};
