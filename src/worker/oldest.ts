import type pg from 'pg';

/** How many flushes are looked at, a project after the other. */
const FLUSHES_MAX = 10_000;

/** How many seconds the oldest work of each kind is overdue. */
export type Oldest = {
  events: number;
  runs: number;
  sends: number;
  jobs: number;
  occurrences: number;
};

/** Looks at the first rows of an index. What waits for its time is not overdue; mail of a stopped provider is. */
export const findOldest = async (client: pg.Client): Promise<Oldest> => {
  const { rows } = await client.query<Oldest>(
    `
    select
      coalesce(extract(epoch from now() - (
        select min(received_at) from (
          select received_at from ingest.pending where retry_at is null order by project_id, flush_id limit $1
        ) as waiting
      )), 0)::float8 as events,
      coalesce(extract(epoch from now() - (
        select wake_at from automations.runs where status = 'active' and wake_at <= now() order by wake_at limit 1
      )), 0)::float8 as runs,
      coalesce(extract(epoch from now() - (
        select due_at from delivery.sends where status = 'queued' and due_at <= now() order by due_at limit 1
      )), 0)::float8 as sends,
      coalesce(extract(epoch from now() - (
        select min(run_at) from graphile_worker._private_jobs
        where locked_at is null and run_at <= now() and attempts < max_attempts
      )), 0)::float8 as jobs,
      coalesce(extract(epoch from now() - (
        select min(next_at) from automations.schedules where status = 'active' and next_at <= now()
      )), 0)::float8 as occurrences`,
    [FLUSHES_MAX],
  );
  const [oldest] = rows;
  if (!oldest) throw new Error('one row was asked for');
  return oldest;
};
