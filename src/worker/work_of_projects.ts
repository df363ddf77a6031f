// Statements that list projects whose work waits, so that one project with very much of it hides no other. $1 is how
// many seconds the work may wait, $2 how many rows each look reads.

/**
 * Projects with flushes that wait for too long. From project to project: it reads only the flush of each whose turn is
 * next, so that one project with very much work hides that of no other.
 */
export const PENDING = `
with recursive next as (
  (
    select project_id, received_at from ingest.pending
    where retry_at is null order by project_id, flush_id limit 1
  )
  union all
  select found.project_id, found.received_at from next
  cross join lateral (
    select project_id, received_at from ingest.pending
    where retry_at is null and project_id > next.project_id order by project_id, flush_id limit 1
  ) as found
),
-- Postponed: only the sweeper hints at it. Where there is more than one look reads, also from project to project.
again as materialized (
  select project_id from ingest.pending where retry_at <= now() order by retry_at limit $2
), next_again as (
  (
    select project_id, retry_at from ingest.pending
    where retry_at is not null order by project_id, retry_at, flush_id limit 1
  )
  union all
  select found.project_id, found.retry_at from next_again
  cross join lateral (
    select project_id, retry_at from ingest.pending
    where retry_at is not null and project_id > next_again.project_id
    order by project_id, retry_at, flush_id limit 1
  ) as found
)
select project_id from (
  select project_id from next where received_at < now() - make_interval(secs => $1) limit $2
) as overdue
union
select project_id from again
union
select project_id from (
  select project_id from next_again where retry_at <= now() and (select count(*) from again) >= $2 limit $2
) as hidden`;

/**
 * Projects with runs that are overdue. Only where there are more than we look at, also from project to project, so that
 * no project with very many hides the runs of others: nothing else wakes a worker for a run that is due by time.
 */
export const DUE_RUNS = `
with recursive overdue as materialized (
  select project_id from automations.runs
  where status = 'active' and wake_at < now() - make_interval(secs => $1)
  order by wake_at limit $2
), next as (
  (
    select project_id from automations.runs
    where status = 'active' and (select count(*) from overdue) >= $2 order by project_id limit 1
  )
  union all
  select found.project_id from next
  cross join lateral (
    select project_id from automations.runs
    where status = 'active' and project_id > next.project_id order by project_id limit 1
  ) as found
)
select project_id from overdue
union
(
  select next.project_id from next
  cross join (values (true), (false)) as first (goes_first)
  cross join (values (true), (false)) as page (is_of_page)
  where exists (
    select from automations.runs as run
    where run.project_id = next.project_id and run.status = 'active' and run.goes_first = first.goes_first
    and coalesce(run.source = 'browser', false) = page.is_of_page
    and run.wake_at < now() - make_interval(secs => $1)
  )
  limit $2
)`;
