import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteWaits } from './wait_queries.ts';
import type { Outcome } from './world.ts';

export type Ended = { runId: string; outcome: Outcome };

/** Ends runs, each with why; what a test was sent to is forgotten. */
export const endRuns = async (scope: Scope, ended: readonly Ended[]): Promise<void> => {
  if (ended.length === 0) return;
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    update automations.runs as run
    set status = 'ended', outcome = ended.outcome, step_id = null, wake_at = null, waits_until = null,
      test_recipient = null, ended_at = statement_timestamp()
    from unnest(
      ${sql.array(
        ended.map(({ runId }) => runId),
        'uuid',
      )},
      ${sql.array(
        ended.map(({ outcome }) => outcome),
        'text',
      )}
    ) as ended (run_id, outcome)
    where run.project_id = ${projectId} and run.run_id = ended.run_id
  `);
  await deleteWaits(
    scope,
    ended.map(({ runId }) => runId),
  );
};

export type Waiting = {
  runId: string;
  stepId: string;
  until: Date;
  wakeAt: Date;
  /** Whether it goes before runs that are due by time. */
  goesFirst: boolean;
};

/** Leaves runs at the step at which they wait, until when. */
export const keepWaiting = async (
  { tx, projectId }: Scope,
  waiting: readonly Waiting[],
): Promise<void> => {
  if (waiting.length === 0) return;
  const column = (read: (one: Waiting) => string | boolean, type: string) =>
    sql.array(waiting.map(read), type);
  await tx.query(sql.unsafe`
    update automations.runs as run
    set step_id = waiting.step_id, waits_until = waiting.until, wake_at = waiting.wake_at,
      goes_first = waiting.goes_first, failure_count = 0
    from unnest(
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')},
      ${column(({ until }) => until.toISOString(), 'timestamptz')},
      ${column(({ wakeAt }) => wakeAt.toISOString(), 'timestamptz')},
      ${column(({ goesFirst }) => goesFirst, 'bool')}
    ) as waiting (run_id, step_id, until, wake_at, goes_first)
    where run.project_id = ${projectId} and run.run_id = waiting.run_id
  `);
};

/** Freezes runs of an automation that is paused where they are. */
export const freezeRuns = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<void> => {
  if (runIds.length === 0) return;
  await tx.query(sql.unsafe`
    update automations.runs set status = 'paused', goes_first = false
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
  `);
};

const Failures = z.strictObject({ failure_count: z.int() });

type Postponed = { run_id: string; entries: number; step_id: string };

/**
 * Puts a run off that could not be walked, for a second and twice as long each time; the last time it
 * is given up, with a line in its log. How often is also the bound of how long.
 */
export const postponeRun = async (
  { tx, projectId }: Scope,
  { run_id: runId, entries, step_id: stepId }: Postponed,
  failuresMax: number,
): Promise<void> => {
  const { failure_count: before } = await tx.one(sql.type(Failures)`
    select failure_count from automations.runs
    where project_id = ${projectId} and run_id = ${runId}
    for no key update
  `);
  await tx.query(sql.unsafe`
    update automations.runs as run
    set failure_count = run.failure_count + 1, goes_first = false,
      status = case when run.failure_count + 1 >= ${failuresMax} then 'failed' else run.status end,
      ended_at = case when run.failure_count + 1 >= ${failuresMax} then clock.now end,
      wake_at = statement_timestamp() + make_interval(secs => ${2 ** before})
    from (select statement_timestamp() as now) as clock
    where run.project_id = ${projectId} and run.run_id = ${runId}
  `);
  await tx.query(sql.unsafe`
    insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
    select ${projectId}, run.run_id, ${entries}, ${stepId}, 'run_failed', statement_timestamp()
    from automations.runs as run
    where run.project_id = ${projectId} and run.run_id = ${runId} and run.status = 'failed'
  `);
  await tx.query(sql.unsafe`
    delete from automations.waits
    where project_id = ${projectId} and run_id in (
      select run.run_id from automations.runs as run
      where run.project_id = ${projectId} and run.run_id = ${runId} and run.status = 'failed'
    )
  `);
};
