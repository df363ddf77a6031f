// Statements that list projects whose work waits, so that one project with very much of it hides no other. $1 is how
// many seconds the work may wait, $2 how many rows each look reads.

/**
 * Steps from project to project over rows, as the text of a recursive query `next`: it reads one row of each. `rows`
 * ends with a condition.
 */
export const eachProject = (rows: string): string => `
  (select project_id from ${rows} order by project_id limit 1)
  union all
  select found.project_id from next
  cross join lateral (
    select project_id from ${rows} and project_id > next.project_id order by project_id limit 1
  ) as found`;

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
), next as (${eachProject("automations.runs where status = 'active' and (select count(*) from overdue) >= $2")})
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

/** Projects with sends that have expired, from project to project. */
export const EXPIRED = `
with recursive next as (${eachProject("delivery.sends where status = 'queued'")})
select project_id from next
where exists (
  select from delivery.sends as send
  where send.project_id = next.project_id and send.status = 'queued'
  and send.expires_at < now() - make_interval(secs => $1)
)
limit $2`;

/** How many rows of each project a look lists where there are more than it reads. */
const ROWS_OF_PROJECT = 100;

/**
 * Lists the rows that wait longest. Only where there are more than one look reads, also some of each project, from
 * project to project, the first of each before the second of any. `since` is a column, and `rows` ends with a
 * condition.
 */
const ofEachProject = (id: string, rows: string, since: string): string => `
with recursive longest as materialized (
  select project_id, ${id} from ${rows} and ${since} < now() - make_interval(secs => $1)
  order by ${since} limit $2
), next as (${eachProject(`${rows} and (select count(*) from longest) >= $2`)})
select project_id, ${id} from longest
union
(
  select next.project_id, found.${id} from next
  cross join lateral (
    select own.${id}, row_number() over (order by own.${id}) as place
    from (
      select ${id} from ${rows} and project_id = next.project_id
      and ${since} < now() - make_interval(secs => $1)
      order by ${id} limit ${ROWS_OF_PROJECT}
    ) as own
  ) as found
  order by found.place limit $2
)`;

export const COMMANDS = ofEachProject(
  'automation_id',
  'automations.commands where true',
  'requested_at',
);
export const MERGES = ofEachProject(
  'profile_id',
  'automations.pending_merges where true',
  'noted_at',
);
export const ERASURES = ofEachProject(
  'erasure_id',
  "profiles.erasures where status = 'pending'",
  'requested_at',
);
/** Those of a paused automation have all the time, and those with a rate have some. */
export const SEGMENT_STARTS = ofEachProject(
  'start_id',
  `automations.segment_starts as start where status = 'running' and (due_at is null or due_at <= now())
  and not exists (
    select from automations.automations as automation
    where automation.project_id = start.project_id and automation.automation_id = start.automation_id
    and automation.status = 'paused'
  )`,
  'requested_at',
);

/** Projects with occurrences that are due, from project to project. Nothing else wakes a worker for them. */
export const OCCURRENCES = `
with recursive next as (
  (
    select project_id, next_at from automations.schedules
    where status = 'active' and next_at is not null and $1 >= 0 order by project_id, next_at limit 1
  )
  union all
  select found.project_id, found.next_at from next
  cross join lateral (
    select project_id, next_at from automations.schedules
    where status = 'active' and next_at is not null and project_id > next.project_id
    order by project_id, next_at limit 1
  ) as found
)
select project_id from next where next_at <= now() limit $2`;

/** Projects with notes of changed traits, from project to project. Nothing else wakes a worker for them. */
export const MOVED_DATES = `
with recursive next as (${eachProject('profiles.trait_changes where $1 >= 0')})
select project_id from next limit $2`;
