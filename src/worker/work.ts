import type pg from 'pg';

/** Where there is work that waits for too long, by project. Ids only: all that the queue's role may see. */
export type Work = {
  pending: string[];
  dueRuns: string[];
  queuedSends: { project_id: string; provider_id: string }[];
  erasures: { project_id: string; erasure_id: string }[];
  /** Projects with sends that nobody may hand over any more. */
  expired: string[];
};

/** How many rows that are overdue one sweep looks at, of each kind, the longest waiting first. */
const ROWS_MAX = 10_000;

type ProjectRow = { project_id: string };

/**
 * Projects with flushes that wait for too long. From project to project: of each only the flush whose turn is next
 * is looked at, so that one project with very much work hides nobody else's.
 */
const PENDING = `
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
-- Postponed: nobody hints at it but we. Only when there is more than we look at, also from project to project.
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

/** Maintenance reads across projects: read-only, without locks, in columns that name nobody. */
export const listWork = async (client: pg.Client, overdueSeconds: number): Promise<Work> => {
  const ask = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
    (await client.query<Row>(text, [overdueSeconds, ROWS_MAX])).rows;
  const toIds = (rows: ProjectRow[]): string[] => rows.map(({ project_id }) => project_id);

  const pending = await ask<ProjectRow>(PENDING);
  const dueRuns = await ask<ProjectRow>(`
    select distinct project_id from (
      select project_id from automations.runs
      where status = 'active' and wake_at < now() - make_interval(secs => $1)
      order by wake_at limit $2
    ) as overdue`);
  const queuedSends = await ask<{ project_id: string; provider_id: string }>(`
    select distinct overdue.project_id, overdue.provider_id from (
      select project_id, provider_id from delivery.sends
      where status = 'queued' and due_at < now() - make_interval(secs => $1)
      and (lease_until is null or lease_until < now()) order by due_at limit $2
    ) as overdue
    left join providers.providers as provider
      on provider.project_id = overdue.project_id and provider.provider_id = overdue.provider_id
    -- What is queued for a provider that is gone has to end.
    where provider.status is distinct from 'parked'`);
  const expired = await ask<ProjectRow>(`
    select distinct project_id from (
      select project_id from delivery.sends
      where status = 'queued' and expires_at < now() - make_interval(secs => $1)
      order by expires_at limit $2
    ) as overdue`);
  const erasures = await ask<{ project_id: string; erasure_id: string }>(`
    select project_id, erasure_id from profiles.erasures
    where status = 'pending' and requested_at < now() - make_interval(secs => $1)
    order by requested_at limit $2`);
  return {
    pending: toIds(pending),
    dueRuns: toIds(dueRuns),
    queuedSends,
    erasures,
    expired: toIds(expired),
  };
};

/** The projects with hand-offs whose owner is dead, or silent for too long. */
export const findLostWork = async (
  client: pg.Client,
  dead: string[],
  silentSeconds: number,
): Promise<string[]> => {
  const { rows } = await client.query<ProjectRow>(
    `select distinct project_id from delivery.sends
    where status = 'handing_off'
    and (lease_owner = any ($1) or handed_off_at < now() - make_interval(secs => $2))`,
    [dead, silentSeconds],
  );
  return rows.map(({ project_id }) => project_id);
};

/**
 * Drops hints that the queue will not try again: those that failed too often, and those of a dead
 * worker whose place a newer hint has taken. The work is in rows; whatever is due is hinted at anew.
 */
export const dropSpentHints = async (client: pg.Client): Promise<number> => {
  const { rowCount } = await client.query(
    `select from graphile_worker.complete_jobs(array(
      select id from graphile_worker._private_jobs where attempts >= max_attempts and locked_by is null
      limit $1
    ))`,
    [ROWS_MAX],
  );
  return rowCount ?? 0;
};
