import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { CallView } from './world.ts';

const STATUSES = ['queued', 'calling', 'waiting', 'delivered', 'failed'] as const;

const View = z.strictObject({
  run_id: z.uuid(),
  step_id: z.string(),
  call_id: z.uuid(),
  status: z.enum(STATUSES),
  retry_at: z.date().nullable(),
  http_status: z.int().nullable(),
  reason: z.string().nullable(),
});

/** A step of a run. */
export type StepRef = { runId: string; stepId: string };

const keyOf = ({ runId, stepId }: StepRef): string => `${runId}/${stepId}`;

const columnOf =
  <Ref extends StepRef>(refs: readonly Ref[]) =>
  (read: (ref: Ref) => string, type: string) =>
    sql.array(refs.map(read), type);

/** Finds the call of each of some steps of runs. */
export const findCalls = async (
  { tx, projectId }: Scope,
  steps: readonly StepRef[],
): Promise<(CallView | null)[]> => {
  const column = columnOf(steps);
  const rows = await tx.any(sql.type(View)`
    select asked.run_id, asked.step_id, call.call_id, call.status, call.retry_at, call.http_status, call.reason
    from unnest(${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')})
      as asked (run_id, step_id)
    cross join lateral (
      select found.call_id, found.status, found.retry_at, found.http_status, found.reason
      from automations.calls as found
      where found.project_id = ${projectId} and found.run_id = asked.run_id and found.step_id = asked.step_id
      limit 1
    ) as call
  `);
  const views = new Map(
    rows.map((row) => [
      keyOf({ runId: row.run_id, stepId: row.step_id }),
      {
        callId: row.call_id,
        status: row.status,
        retryAt: row.retry_at,
        httpStatus: row.http_status,
        reason: row.reason,
      },
    ]),
  );
  return steps.map((step) => views.get(keyOf(step)) ?? null);
};

export type NewCall = StepRef & { endpointId: string; expiresAt: Date };

const CallId = z.strictObject({ call_id: z.uuid(), run_id: z.uuid(), step_id: z.string() });

/** Inserts the one call of each step of a run, or queues the one that waits again. Returns their ids. */
export const queueCalls = async (
  { tx, projectId }: Scope,
  calls: readonly NewCall[],
): Promise<string[]> => {
  const column = columnOf(calls);
  const given = sql.fragment`unnest(
    ${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')},
    ${column(({ endpointId }) => endpointId, 'uuid')}, ${column(newId, 'uuid')},
    ${column(({ expiresAt }) => expiresAt.toISOString(), 'timestamptz')}
  ) as given (run_id, step_id, endpoint_id, call_id, expires_at)`;
  await tx.query(sql.unsafe`
    insert into automations.calls
      (project_id, call_id, run_id, step_id, endpoint_id, status, queued_at, expires_at, is_of_page)
    select ${projectId}, given.call_id, given.run_id, given.step_id, given.endpoint_id, 'queued',
      statement_timestamp(), given.expires_at, (run.source = 'server') is not true and not run.is_test
    from ${given}
    cross join lateral (
      select found.source, found.is_test from automations.runs as found
      where found.project_id = ${projectId} and found.run_id = given.run_id
      limit 1
    ) as run
    on conflict on constraint calls_one_per_step do nothing
  `);
  await tx.query(sql.unsafe`
    update automations.calls as call set status = 'queued', retry_at = null, endpoint_id = given.endpoint_id
    from ${given}
    where call.project_id = ${projectId} and call.run_id = given.run_id and call.step_id = given.step_id
    and call.status = 'waiting'
  `);
  const rows = await tx.any(sql.type(CallId)`
    select call.call_id, given.run_id, given.step_id
    from ${given}
    cross join lateral (
      select found.call_id from automations.calls as found
      where found.project_id = ${projectId} and found.run_id = given.run_id and found.step_id = given.step_id
      limit 1
    ) as call
  `);
  const ids = new Map(
    rows.map((row) => [keyOf({ runId: row.run_id, stepId: row.step_id }), row.call_id]),
  );
  return calls.flatMap((call) => ids.get(keyOf(call)) ?? []);
};
