import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';

const RunId = z.strictObject({ run_id: z.uuid() });
const Version = z.strictObject({ version: z.int() });

const uuids = (ids: readonly string[]) => sql.array([...ids], 'uuid');

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

/** Ends runs that have not ended, at most `runsMax`, with what they wait for. Returns how many. */
export const endRunsInside = async (
  { tx, projectId }: Scope,
  automationId: string,
  { runsMax, isTest }: { runsMax: number; isTest: boolean },
): Promise<number> => {
  const ofKind = isTest ? sql.fragment`run.is_test` : sql.fragment`not run.is_test`;
  const ended = await tx.any(sql.type(RunId)`
    update automations.runs
    set status = 'ended', outcome = 'archived', step_id = null, wake_at = null, waits_until = null,
      test_recipient = null, ended_at = now()
    where project_id = ${projectId} and run_id = any (array(
      select run.run_id from automations.runs as run
      where run.project_id = ${projectId} and run.automation_id = ${automationId}
      and run.status in ('active', 'paused') and ${ofKind}
      limit ${runsMax}
      for no key update
    ))
    returning run_id
  `);
  await deleteWaitsOf(
    { tx, projectId },
    ended.map(({ run_id }) => run_id),
  );
  return ended.length;
};

const deleteWaitsOf = async (
  { tx, projectId }: Pick<Scope, 'tx' | 'projectId'>,
  runIds: readonly string[],
): Promise<void> => {
  if (runIds.length === 0) return;
  await tx.query(sql.unsafe`
    delete from automations.waits where project_id = ${projectId} and run_id = any (${uuids(runIds)})
  `);
};

/** Lists the versions that runs inside follow: one look into the index for each. */
export const listVersionsInside = async (
  { tx, projectId }: Scope,
  automationId: string,
): Promise<number[]> => {
  const inside = sql.fragment`run.project_id = ${projectId} and run.automation_id = ${automationId}
    and run.status in ('active', 'paused') and not run.is_test`;
  const rows = await tx.any(sql.type(Version)`
    with recursive known as (
      (
        select run.version from automations.runs as run
        where ${inside}
        order by run.version limit 1
      )
      union all
      select next.version from known
      cross join lateral (
        select run.version from automations.runs as run
        where ${inside} and run.version > known.version
        order by run.version limit 1
      ) as next
    )
    select version from known
  `);
  return rows.map(({ version }) => version);
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
    and run.status in ('active', 'paused') and not run.is_test
    and run.step_id = any (${sql.array([...stepIds], 'text')})
    and run.started_at <= ${sql.timestamp(startedBy)}
    limit ${runsMax}
    for no key update
  `);
  return rows.map(({ run_id }) => run_id);
};

/**
 * Moves runs to another version, at the step where they are. What they waited for is forgotten, and they look at once
 * what the other version waits for.
 */
export const moveRuns = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
  { to, now }: { to: number; now: Date },
): Promise<void> => {
  if (runIds.length === 0) return;
  await tx.query(sql.unsafe`
    update automations.runs set version = ${to}, wake_at = least(wake_at, ${sql.timestamp(now)})
    where project_id = ${projectId} and run_id = any (${uuids(runIds)})
  `);
  await deleteWaitsOf({ tx, projectId }, runIds);
};
