import type pg from 'pg';
import { RETRY_MAX_SECONDS } from '../../src/delivery/retry.ts';
import { CIRCUIT_OPEN_MAX_SECONDS } from '../../src/providers/circuit.ts';

/** A worker that says nothing for this long is not alive. */
const SILENT_SECONDS = 10;

/** No provider is left alone for longer than its circuit may be open: no ramp here is ever used up. */
const PACE_MAX_SECONDS = CIRCUIT_OPEN_MAX_SECONDS;
/** A job that is due is taken at once, or found by the sweeper; one that failed is tried again in some seconds. */
const OVERDUE_SECONDS = 10;

/** Each asks for what somebody should be at, or should have done: when the house is idle, none finds a row. */
const QUESTIONS: Record<string, string> = {
  'events are not processed': `
    select project_id, flush_id, failure_count from ingest.pending`,
  'a run is due': `
    select project_id, run_id, step_id, failure_count from automations.runs
    where status = 'active' and wake_at <= now()`,
  'a run has failed': `
    select project_id, run_id, step_id, failure_count from automations.runs where status = 'failed'`,
  'a send is due': `
    select send.project_id, send.send_id, send.status_reason from delivery.sends as send
    left join providers.paces as pace
      on pace.project_id = send.project_id and pace.provider_id = send.provider_id
    where send.status = 'queued' and (
      send.due_at > now() + make_interval(secs => ${RETRY_MAX_SECONDS})
      or pace.wakes_at > now() + make_interval(secs => ${PACE_MAX_SECONDS})
      or (send.due_at <= now() and coalesce(pace.wakes_at, now()) <= now())
    )`,
  'a call is due': `
    select project_id, call_id, status from automations.calls
    where status in ('queued', 'calling') or (status = 'waiting' and retry_at <= now())`,
  'a hand-off has no end': `
    select project_id, send_id, lease_owner, handed_off_at from delivery.sends where status = 'handing_off'`,
  'hand-offs are not on timelines': `
    select project_id, step_id from delivery.ended`,
  'a segment is not full': `
    select project_id, segment_id, status from segments.segments where status <> 'ready'`,
  'somebody is not looked at for segments': `
    select project_id, profile_id, noted_at from profiles.changes limit 5`,
  'somebody is due to be looked at for segments': `
    select project_id, profile_id, wake_at from segments.wakeups where wake_at <= now() limit 5`,
  'an erasure is not done': `
    select project_id, erasure_id from profiles.erasures where status = 'pending'`,
  'a worker that is not alive is signed on': `
    select worker_id, heartbeat_at from queue.workers
    where heartbeat_at < now() - make_interval(secs => ${SILENT_SECONDS})`,
  'a job is overdue': `
    select id, attempts, run_at from graphile_worker._private_jobs
    where locked_by is null and run_at < now() - make_interval(secs => ${OVERDUE_SECONDS})`,
  'a job is held by nobody who lives': `
    select id, locked_by from graphile_worker._private_jobs
    where locked_by is not null and locked_by not in (select worker_id from queue.workers)`,
};

/** What is left to do, in words. */
export const findUnfinished = async (client: pg.Client): Promise<string[]> => {
  const found: string[] = [];
  for (const [what, query] of Object.entries(QUESTIONS)) {
    const { rows } = await client.query<Record<string, unknown>>(query);
    found.push(...rows.map((row) => `${what}: ${JSON.stringify(row)}`));
  }
  return found;
};
