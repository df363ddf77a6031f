import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { isInside } from '../life_queries.ts';
import { deleteWaits } from '../wait_queries.ts';

const RunId = z.strictObject({ run_id: z.uuid() });

/** Makes frozen runs active again, at most `runsMax`. Returns how many. */
export const thawRuns = async (
  { tx, projectId }: Scope,
  automationId: string,
  runsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.runs set status = 'active'
    where project_id = ${projectId} and run_id = any (array(
      select run.run_id from automations.runs as run
      where run.project_id = ${projectId} and run.automation_id = ${automationId} and run.status = 'paused'
      order by run.run_id
      limit ${runsMax}
      for no key update
    ))
  `);
  return rowCount;
};

/** Locks runs that have not ended, at most `runsMax`, and returns their ids: of people, or tests. */
export const holdUnended = async (
  { tx, projectId }: Scope,
  automationId: string,
  { runsMax, isTest }: { runsMax: number; isTest: boolean },
): Promise<string[]> => {
  const isOfKind = isTest
    ? sql.fragment`run.status in ('active', 'paused') and run.is_test`
    : isInside;
  const rows = await tx.any(sql.type(RunId)`
    select run.run_id from automations.runs as run
    where run.project_id = ${projectId} and run.automation_id = ${automationId} and ${isOfKind}
    limit ${runsMax}
    for no key update
  `);
  return rows.map(({ run_id }) => run_id);
};

type Movable = { from: number; stepIds: readonly string[]; startedBy: Date; runsMax: number };

/** Locks runs inside at some steps of a version, at most `runsMax`, and returns their ids. */
export const holdMovable = async (
  { tx, projectId }: Scope,
  automationId: string,
  { from, stepIds, startedBy, runsMax }: Movable,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(RunId)`
    select run.run_id from automations.runs as run
    where run.project_id = ${projectId} and run.automation_id = ${automationId} and run.version = ${from}
    and ${isInside}
    and run.step_id = any (${sql.array([...stepIds], 'text')})
    and run.started_at <= ${sql.timestamp(startedBy)}
    limit ${runsMax}
    for no key update
  `);
  return rows.map(({ run_id }) => run_id);
};

/**
 * Moves runs to another version, at the step where they are. Deletes what they wait for, and makes them due at once:
 * the step of the other version may wait for something else. A run that has yet to begin begins at its time.
 */
export const moveRuns = async (
  scope: Scope,
  runIds: readonly string[],
  { to, now }: { to: number; now: Date },
): Promise<void> => {
  if (runIds.length === 0) return;
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    update automations.runs set version = ${to}, wake_at = greatest(least(wake_at, ${sql.timestamp(now)}), begins_at)
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
  `);
  await deleteWaits(scope, runIds);
};
