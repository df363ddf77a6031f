import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { nowInMs } from '../../base/now_in_ms.ts';

const Place = z.strictObject({
  run_id: z.uuid(),
  status: z.enum(['active', 'paused', 'failed']),
  step_id: z.string(),
  wake_at: z.date(),
  waits_until: z.date().nullable(),
});
/** Where a run is that has not ended. */
export type Place = z.output<typeof Place>;

/** Locks those of some runs that have not ended, in the order of their ids. Returns where each is. */
export const lockOpen = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(Place)`
    select run_id, status, step_id, wake_at, waits_until from automations.runs
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
    and status in ('active', 'paused', 'failed')
    order by run_id
    for no key update
  `);

const Merged = Place.extend({ into_run_id: z.uuid(), merged_at: z.date() });
/** Where a run was that ended as merged. */
export type Merged = z.output<typeof Merged>;

/** Whether an undo may restore a run, which the statement calls `run`. */
export const mayBeRestored = (projectId: string) => sql.fragment`exists (
  select from automations.run_merges as merge
  where merge.project_id = ${projectId} and merge.run_id = run.run_id and merge.undone_at is null
)`;

/** Locks the merges of some runs that were not undone. */
export const lockMerged = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(Merged)`
    select run_id, into_run_id, status, step_id, wake_at, waits_until, merged_at from automations.run_merges
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')}) and undone_at is null
    order by run_id, into_run_id
    for update
  `);

/** Stores into which run each of some runs was merged, and where it was. */
export const insertMerges = async (
  { tx, projectId }: Scope,
  places: readonly Place[],
  intoOf: (runId: string) => string,
): Promise<void> => {
  const column = (read: (place: Place) => string | null, type: string) =>
    sql.array(places.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.run_merges as known
      (project_id, run_id, into_run_id, status, step_id, wake_at, waits_until, merged_at)
    select ${projectId}, place.run_id, place.into_run_id, place.status, place.step_id, place.wake_at,
      place.waits_until, ${nowInMs}
    from unnest(
      ${column(({ run_id }) => run_id, 'uuid')}, ${column(({ run_id }) => intoOf(run_id), 'uuid')},
      ${column(({ status }) => status, 'text')}, ${column(({ step_id }) => step_id, 'text')},
      ${column(({ wake_at }) => wake_at.toISOString(), 'timestamptz')},
      ${column(({ waits_until }) => waits_until?.toISOString() ?? null, 'timestamptz')}
    ) as place (run_id, into_run_id, status, step_id, wake_at, waits_until)
    on conflict (project_id, run_id, into_run_id) do update
    set status = excluded.status, step_id = excluded.step_id, wake_at = excluded.wake_at,
      waits_until = excluded.waits_until, merged_at = least(known.merged_at, excluded.merged_at), undone_at = null
  `);
};

/** Ends merges that are locked. */
export const endMerges = async (
  { tx, projectId }: Scope,
  merged: readonly Merged[],
): Promise<void> => {
  const runIds = merged.map(({ run_id }) => run_id);
  await tx.query(sql.unsafe`
    update automations.run_merges set undone_at = ${nowInMs}
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')}) and undone_at is null
  `);
};

/**
 * Makes runs that ended as merged continue where they were. A step that became due meanwhile is due as it was, so that
 * it expires as after a pause. The others check at once what came meanwhile.
 */
export const restoreRuns = async (
  { tx, projectId }: Scope,
  merged: readonly Merged[],
): Promise<void> => {
  if (merged.length === 0) return;
  const column = (read: (one: Merged) => string | null, type: string) =>
    sql.array(merged.map(read), type);
  await tx.query(sql.unsafe`
    update automations.runs as run
    set status = place.status, outcome = null, step_id = place.step_id, waits_until = place.waits_until,
      wake_at = greatest(least(place.wake_at, place.now), run.begins_at), ended_at = place.failed_at, goes_first = false
    from (
      select place.*, case when place.status = 'failed' then clock.now end as failed_at, clock.now
      from unnest(
        ${column(({ run_id }) => run_id, 'uuid')},
        ${column(({ status }) => (status === 'failed' ? status : 'active'), 'text')},
        ${column(({ step_id }) => step_id, 'text')},
        ${column(({ wake_at }) => wake_at.toISOString(), 'timestamptz')},
        ${column(({ waits_until }) => waits_until?.toISOString() ?? null, 'timestamptz')}
      ) as place (run_id, status, step_id, wake_at, waits_until)
      cross join (select ${nowInMs} as now) as clock
    ) as place
    where run.project_id = ${projectId} and run.run_id = place.run_id and run.outcome = 'merged'
  `);
};

/**
 * Takes the calls of runs that ended out of the queue of their endpoint. A restored run queues its call again. A call
 * that a worker has claimed is under way.
 */
export const parkCalls = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<void> => {
  await tx.query(sql.unsafe`
    update automations.calls set status = 'waiting', reason = 'run_merged', retry_at = null
    where project_id = ${projectId} and call_id = any (array(
      select call_id from automations.calls
      where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')}) and status = 'queued'
      order by call_id
      for update skip locked
    ))
  `);
};

/** A decision that is added to the log of a run. */
export type NewDecision = {
  runId: string;
  stepId: string;
  decision: string;
  detail: Record<string, string>;
};

/** Adds decisions to the logs of runs, after what is there. */
export const appendLog = async (
  { tx, projectId }: Scope,
  decisions: readonly NewDecision[],
): Promise<void> => {
  if (decisions.length === 0) return;
  const column = (read: (one: NewDecision) => string, type: string) =>
    sql.array(decisions.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.run_log (project_id, run_id, entry, step_id, decision, detail, decided_at)
    select ${projectId}, added.run_id,
      known.entries + row_number() over (partition by added.run_id order by added.ordinal) - 1,
      added.step_id, added.decision, added.detail, statement_timestamp()
    from unnest(
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')},
      ${column(({ decision }) => decision, 'text')}, ${column(({ detail }) => JSON.stringify(detail), 'jsonb')}
    ) with ordinality as added (run_id, step_id, decision, detail, ordinal)
    cross join lateral (
      select count(*) as entries from automations.run_log
      where project_id = ${projectId} and run_id = added.run_id
    ) as known
  `);
};
