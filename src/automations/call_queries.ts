import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';
import { CALL_LEASE_SECONDS, ENDPOINT_CALLS_OF_PAGES_MAX } from './call_limits.ts';
import { DELETING } from './queries.ts';
import type { WebhookOutcome } from './webhook_outcome.ts';

const Claimed = z.strictObject({
  call_id: z.uuid(),
  run_id: z.uuid(),
  step_id: z.string(),
  attempts: z.int(),
  queued_at: z.date(),
  expires_at: z.date(),
  identity_id: z.uuid(),
  automation_id: z.uuid(),
  automation: z.string(),
  version: z.int(),
  trigger: z.json(),
  trigger_event_id: z.uuid().nullable(),
  trigger_event_at: z.date().nullable(),
  trigger_entry: z.int().nullable(),
  started_at: z.date(),
  is_test: z.boolean(),
  traceparent: z.string().nullable(),
  /** Whether no server is known to have caused its run, and it is no test. */
  is_of_page: z.boolean(),
  /** Who caused the run; null where that is not known. */
  source: z.enum(['server', 'browser', 'system']).nullable(),
});
export type Claimed = z.output<typeof Claimed>;

const Lanes = z.strictObject({ are_full: z.boolean() });

/** Whether calls of an endpoint that pages caused use all their lanes. Such claims take turns until they commit. */
const areLanesOfPagesFull = async (
  { tx, projectId }: Scope,
  endpointId: string,
): Promise<boolean> => {
  await tx.query(sql.unsafe`
    select from automations.endpoints
    where project_id = ${projectId} and endpoint_id = ${endpointId} for no key update
  `);
  const { are_full } = await tx.one(sql.type(Lanes)`
    select count(*) >= ${ENDPOINT_CALLS_OF_PAGES_MAX} as are_full from (
      select from automations.calls
      where project_id = ${projectId} and endpoint_id = ${endpointId} and is_of_page
      and status = 'calling' and lease_until >= statement_timestamp()
      limit ${ENDPOINT_CALLS_OF_PAGES_MAX}
    ) as under_way
  `);
  return are_full;
};

const claimOf = async (
  { tx, projectId }: Scope,
  endpointId: string,
  isOfPage: boolean,
): Promise<Claimed | null> => {
  const claimed = await tx.maybeOne(sql.type(Claimed)`
    select call.call_id, call.run_id, call.step_id, call.attempts + 1 as attempts, call.queued_at, call.expires_at,
      run.identity_id, run.automation_id, automation.name as automation, run.version,
      version.definition -> 'trigger' as trigger, run.trigger_event_id, run.trigger_event_at, run.trigger_entry,
      run.started_at, run.is_test, run.traceparent, call.is_of_page, run.source
    from automations.calls as call
    join automations.runs as run on run.project_id = call.project_id and run.run_id = call.run_id
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    join automations.versions as version
      on version.project_id = run.project_id and version.automation_id = run.automation_id
      and version.version = run.version
    where call.project_id = ${projectId} and run.project_id = ${projectId}
    and automation.project_id = ${projectId} and version.project_id = ${projectId}
    and call.endpoint_id = ${endpointId} and call.is_of_page = ${isOfPage} and call.status in ('queued', 'calling')
    and (call.status = 'queued' or call.lease_until < statement_timestamp())
    and run.status = 'active' and run.step_id = call.step_id
    and not base.is_sending_held()
    and (automation.status = 'active' or run.is_test and automation.status <> ${DELETING})
    order by call.queued_at
    limit 1
    for update of call skip locked
  `);
  if (!claimed) return null;
  await tx.query(sql.unsafe`
    update automations.calls
    set status = 'calling', attempts = attempts + 1,
      lease_until = statement_timestamp() + make_interval(secs => ${CALL_LEASE_SECONDS})
    where project_id = ${projectId} and call_id = ${claimed.call_id}
  `);
  return claimed;
};

/** How often calls of pages come first: those of servers leave a quarter to them. */
const PAGES_FIRST_SHARE = 0.25;

/**
 * Takes the next call of an endpoint whose run is at its step and goes on. A call that was taken and never ended is
 * taken again once its lease has run out. Calls that no page caused come first, and one lane is for them alone.
 */
export const claimCall = async (scope: Scope, endpointId: string): Promise<Claimed | null> => {
  const arePagesFirst = Math.random() < PAGES_FIRST_SHARE;
  for (const isOfPage of [arePagesFirst, !arePagesFirst]) {
    if (isOfPage && (await areLanesOfPagesFull(scope, endpointId))) continue;
    const claimed = await claimOf(scope, endpointId, isOfPage);
    if (claimed) return claimed;
  }
  return null;
};

export type Ended = {
  callId: string;
  runId: string;
  /** Of which attempt it tells: another one may have begun when its lease had run out. */
  attempt: number;
} & WebhookOutcome;

/** Keeps what came of a call, and lets its run go on. What was delivered stays delivered. */
export const endCall = async (
  { tx, projectId }: Scope,
  { callId, runId, attempt, status, retryAt, httpStatus, reason }: Ended,
): Promise<void> => {
  // The run first, as whoever walks it does.
  await tx.query(sql.unsafe`
    select from automations.runs where project_id = ${projectId} and run_id = ${runId} for no key update
  `);
  const isNews =
    status === 'delivered'
      ? sql.fragment`status <> 'delivered'`
      : sql.fragment`status = 'calling' and attempts = ${attempt}`;
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.calls
    set status = ${status}, lease_until = null, http_status = ${httpStatus}, reason = ${reason},
      retry_at = ${retryAt === null ? null : sql.timestamp(retryAt)}
    where project_id = ${projectId} and call_id = ${callId} and ${isNews}
  `);
  if (rowCount === 0) return;
  await tx.query(sql.unsafe`
    update automations.runs set wake_at = ${nowInMs}
    where project_id = ${projectId} and run_id = ${runId} and status in ('active', 'paused')
    and wake_at > statement_timestamp()
  `);
};
