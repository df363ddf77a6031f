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

/** Deletes what is known of people who were not enrolled, at most `rowsMax` rows. Returns how many. */
export const deleteRefusalsOf = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.refusals as refused
    using (
      select identity_id, reason from automations.refusals
      where project_id = ${projectId} and automation_id = ${automationId}
      order by identity_id, reason
      limit ${rowsMax}
    ) as page
    where refused.project_id = ${projectId} and refused.automation_id = ${automationId}
    and refused.identity_id = page.identity_id and refused.reason = page.reason
  `);
  return rowCount;
};

/** Deletes who was enrolled by runs that retention removed, at most `rowsMax` rows. Returns how many. */
export const deleteEnrollmentsOf = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.enrollments as enrolled
    using (
      select identity_id, digest from automations.enrollments
      where project_id = ${projectId} and automation_id = ${automationId}
      order by identity_id, digest
      limit ${rowsMax}
    ) as page
    where enrolled.project_id = ${projectId} and enrolled.automation_id = ${automationId}
    and enrolled.identity_id = page.identity_id and enrolled.digest = page.digest
  `);
  return rowCount;
};

/** Deletes the arms of splits of run logs that retention removed, at most `rowsMax` rows. Returns how many. */
export const deleteArmsOf = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.arms as arm
    using (
      select identity_id, step_id from automations.arms
      where project_id = ${projectId} and automation_id = ${automationId}
      order by identity_id, step_id
      limit ${rowsMax}
    ) as page
    where arm.project_id = ${projectId} and arm.automation_id = ${automationId}
    and arm.identity_id = page.identity_id and arm.step_id = page.step_id
  `);
  return rowCount;
};

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

/** Deletes versions, at most `rowsMax`. Returns how many. */
const deleteVersions = async (
  { tx, projectId }: Scope,
  automationId: string,
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.versions as made
    using (
      select version from automations.versions
      where project_id = ${projectId} and automation_id = ${automationId}
      order by version
      limit ${rowsMax}
    ) as page
    where made.project_id = ${projectId} and made.automation_id = ${automationId} and made.version = page.version
  `);
  return rowCount;
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
