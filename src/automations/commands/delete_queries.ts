import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { DELETING } from '../queries.ts';

/** Deletes starts for whole segments, at most `rowsMax`. Returns how many. */
export const deleteSegmentStarts = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.segment_starts
    where project_id = ${projectId} and start_id = any (array(
      select start_id from automations.segment_starts
      where project_id = ${projectId} and automation_id = ${automationId}
      order by start_id
      limit ${rowsMax}
      for update
    ))
  `);
  return rowCount;
};

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * Makes a statement that deletes rows of an automation, at most `rowsMax`, and returns how many. `keys` follow the
 * automation in the primary key of the table.
 */
const deleteRowsOf =
  (table: Fragment, keys: readonly Fragment[]) =>
  async ({ tx, projectId }: Scope, automationId: string, rowsMax: number): Promise<number> => {
    const columns = (of: Fragment) =>
      sql.join(
        keys.map((key) => sql.fragment`${of}.${key}`),
        sql.fragment`, `,
      );
    const { rowCount } = await tx.query(sql.unsafe`
      delete from ${table} as gone
      using (
        select ${columns(sql.fragment`old`)} from ${table} as old
        where old.project_id = ${projectId} and old.automation_id = ${automationId}
        order by ${columns(sql.fragment`old`)}
        limit ${rowsMax}
      ) as page
      where gone.project_id = ${projectId} and gone.automation_id = ${automationId}
      and (${columns(sql.fragment`gone`)}) = (${columns(sql.fragment`page`)})
    `);
    return rowCount;
  };

const identityId = sql.fragment`identity_id`;

/** Deletes what is known of people who were not enrolled. */
export const deleteRefusalsOf = deleteRowsOf(sql.fragment`automations.refusals`, [
  identityId,
  sql.fragment`reason`,
]);

/** Deletes who was enrolled by runs that retention removed. */
export const deleteEnrollmentsOf = deleteRowsOf(sql.fragment`automations.enrollments`, [
  identityId,
  sql.fragment`digest`,
]);

/** Deletes the arms of splits of run logs that retention removed. */
export const deleteArmsOf = deleteRowsOf(sql.fragment`automations.arms`, [
  identityId,
  sql.fragment`step_id`,
]);

const deleteVersions = deleteRowsOf(sql.fragment`automations.versions`, [sql.fragment`version`]);

const RunId = z.strictObject({ run_id: z.uuid() });

/**
 * Deletes runs with their log, waits and calls: at most `rowsMax` runs, and as many entries of their logs. A run goes
 * once its log is gone. Waits for transactions that walk these runs. Returns how many runs and entries went.
 */
export const deleteRuns = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const rows = await tx.any(sql.type(RunId)`
    select run_id from automations.runs
    where project_id = ${projectId} and automation_id = ${automationId}
    order by run_id
    limit ${rowsMax}
    for update
  `);
  const ids = sql.array(
    rows.map(({ run_id }) => run_id),
    'uuid',
  );
  const { rowCount: entries } = await tx.query(sql.unsafe`
    delete from automations.run_log as logged
    using (
      select run_id, entry from automations.run_log
      where project_id = ${projectId} and run_id = any (${ids})
      order by run_id, entry
      limit ${rowsMax}
    ) as page
    where logged.project_id = ${projectId} and logged.run_id = page.run_id and logged.entry = page.entry
  `);
  const { rowCount: runs } = await tx.query(sql.unsafe`
    delete from automations.runs as run
    where run.project_id = ${projectId} and run.run_id = any (${ids})
    and not exists (
      select from automations.run_log as logged
      where logged.project_id = ${projectId} and logged.run_id = run.run_id
    )
  `);
  return entries + runs;
};

const Started = z.strictObject({ is_started: z.boolean() });

/**
 * Deletes the versions of an automation without runs, at most `rowsMax`, and at last its row with its commands. Waits
 * for transactions that start runs of it and began before it was deleted. Returns how many versions went, and whether
 * the row went.
 */
export const deleteRow = async (
  scope: Scope,
  automationId: string,
  rowsMax: number,
): Promise<{ changed: number; isGone: boolean }> => {
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    select from automations.automations
    where project_id = ${projectId} and automation_id = ${automationId}
    for update
  `);
  const { is_started: isStarted } = await tx.one(sql.type(Started)`
    select exists (
      select from automations.runs where project_id = ${projectId} and automation_id = ${automationId}
    ) as is_started
  `);
  if (isStarted) return { changed: 0, isGone: false };
  const changed = await deleteVersions(scope, automationId, rowsMax);
  if (changed === rowsMax) return { changed, isGone: false };
  await tx.query(sql.unsafe`
    delete from automations.automations
    where project_id = ${projectId} and automation_id = ${automationId} and status = ${DELETING}
  `);
  return { changed, isGone: true };
};
