import type pg from 'pg';
import {
  COMMANDS,
  DUE_RUNS,
  eachProject,
  ERASURES,
  EXPIRED,
  MERGES,
  MOVED_DATES,
  OCCURRENCES,
  PENDING,
  SEGMENT_STARTS,
} from './work_of_projects.ts';

/** Where there is work that waits for too long, by project. Ids only: all that the queue's role may see. */
export type Work = {
  pending: string[];
  dueRuns: string[];
  queuedSends: { project_id: string; provider_id: string }[];
  erasures: { project_id: string; erasure_id: string }[];
  /** Projects whose segments are behind. */
  segments: string[];
  /** Projects with ended hand-offs that are not on timelines yet. */
  ended: string[];
  /** Projects with entries and leaves of segments that automations have not read. */
  segmentEntries: string[];
  /** Starts of all people of a segment that are not done. Those of a paused automation have all the time. */
  segmentStarts: { project_id: string; start_id: string }[];
  /** Projects with notes of changed traits. */
  movedDates: string[];
  /** Projects with occurrences of schedules that are due. */
  occurrences: string[];
  /** People whose runs are to be compared after a link or an undo. */
  merges: { project_id: string; profile_id: string }[];
  /** Commands on automations that are not done. */
  commands: { project_id: string; automation_id: string }[];
  /** Projects with sends that have expired. */
  expired: string[];
  /** Projects with alerts that have to be announced to endpoints. */
  alerts: string[];
  /** Endpoints with deliveries that are due. */
  deliveries: { project_id: string; endpoint_id: string }[];
};

/** How many overdue rows of each kind one sweep lists. */
const ROWS_MAX = 10_000;

type ProjectRow = { project_id: string };

/**
 * Providers with email that waits for too long. From queue to queue (provider, priority, automation) only first sends
 * are looked at, so that a great backlog hides no other. A parked provider, or one that waits for its time, is left
 * alone; email of a deleted provider has to end.
 */
const QUEUED_SENDS = `
  with recursive flow as (
    (
      select provider_id, project_id, priority, automation_id from delivery.sends
      where status = 'queued' order by provider_id, project_id, priority, automation_id limit 1
    )
    union all
    select found.provider_id, found.project_id, found.priority, found.automation_id from flow
    cross join lateral (
      select send.provider_id, send.project_id, send.priority, send.automation_id from delivery.sends as send
      where send.status = 'queued' and (send.provider_id, send.project_id, send.priority, send.automation_id)
        > (flow.provider_id, flow.project_id, flow.priority, flow.automation_id)
      order by send.provider_id, send.project_id, send.priority, send.automation_id limit 1
    ) as found
  ),
  queued as materialized (
    select flow.project_id, flow.provider_id, bool_or(exists (
      select from delivery.sends as send
      where send.project_id = flow.project_id and send.provider_id = flow.provider_id
      and send.status = 'queued' and send.priority = flow.priority and send.automation_id = flow.automation_id
      and send.due_at < now() - make_interval(secs => $1)
      and (send.lease_until is null or send.lease_until < now()) and send.expires_at > now()
    )) as is_overdue
    from flow group by flow.project_id, flow.provider_id
  )
  (
    select provider.project_id, provider.provider_id
    from providers.providers as provider
    left join queued on queued.project_id = provider.project_id and queued.provider_id = provider.provider_id
    left join providers.paces as pace
      on pace.project_id = provider.project_id and pace.provider_id = provider.provider_id
    where provider.status = 'active' and (pace.wakes_at is null or pace.wakes_at <= now())
    and (
      queued.is_overdue
      or exists (
        select from delivery.sends as send
        where send.project_id = provider.project_id and send.provider_id = provider.provider_id
        and send.status = 'unknown' and send.due_at <= now() and send.expires_at > now()
      )
    )
    limit $2
  )
  union
  (
    select queued.project_id, queued.provider_id from queued
    where not exists (
      select from providers.providers as provider
      where provider.project_id = queued.project_id and provider.provider_id = queued.provider_id
    )
    limit $2
  )`;

/** One look at each project that has segments: at its own row, its oldest change, its first wake-up. */
const SEGMENTS = `
  select known.project_id from segments.projects as known
  where known.due_at is not null
  or (
    select change.noted_at from profiles.changes as change
    where change.project_id = known.project_id order by change.noted_at limit 1
  ) < now() - make_interval(secs => $1)
  or (
    select wakeup.wake_at from segments.wakeups as wakeup
    where wakeup.project_id = known.project_id order by wakeup.wake_at limit 1
  ) <= now()
  limit $2`;

/** Two looks at each project: at its oldest note, and at the one that is to be tried again first. */
const ENDED = `
  with recursive next as (${eachProject('delivery.ended where true')})
  select next.project_id from next
  cross join lateral (
    (
      select ended_at + make_interval(secs => $1) as due_at from delivery.ended
      where project_id = next.project_id and retry_at is null order by step_id limit 1
    )
    union all
    (
      select retry_at from delivery.ended
      where project_id = next.project_id and retry_at is not null order by retry_at, step_id limit 1
    )
  ) as note
  group by next.project_id
  having min(note.due_at) < now()
  limit $2`;
/** A look at two rows of each project whose history of segments is read. */
const SEGMENT_ENTRIES = `
  select reader.project_id from automations.segment_readers as reader
  join segments.projects as known on known.project_id = reader.project_id
  where known.last_entry > reader.seen_entry and $1 >= 0
  limit $2`;

/** One look at each endpoint that may be tried now: at its delivery that is due first. */
const DELIVERIES = `
  select endpoint.project_id, endpoint.endpoint_id from automations.endpoints as endpoint
  where endpoint.status = 'active' and (endpoint.paused_until is null or endpoint.paused_until <= now())
  and exists (
    select from automations.webhook_deliveries as delivery
    where delivery.project_id = endpoint.project_id and delivery.endpoint_id = endpoint.endpoint_id
    and delivery.status in ('waiting', 'calling') and delivery.due_at < now() - make_interval(secs => $1)
  )
  limit $2`;

/** Alerts are rare, and announced by the sweep alone: the code that changes their state need not know about it. */
const ALERTS = `
  select project_id from alerts.announcements where $1 >= 0 group by project_id limit $2`;

/** Maintenance reads across projects: read-only, without locks, in columns that name nobody. */
export const listWork = async (client: pg.Client, overdueSeconds: number): Promise<Work> => {
  const ask = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
    (await client.query<Row>(text, [overdueSeconds, ROWS_MAX])).rows;
  const toIds = (rows: ProjectRow[]): string[] => rows.map(({ project_id }) => project_id);

  const pending = await ask<ProjectRow>(PENDING);
  const dueRuns = await ask<ProjectRow>(DUE_RUNS);
  const queuedSends = await ask<Work['queuedSends'][number]>(QUEUED_SENDS);
  const expired = await ask<ProjectRow>(EXPIRED);
  const segments = await ask<ProjectRow>(SEGMENTS);
  const ended = await ask<ProjectRow>(ENDED);
  const segmentEntries = await ask<ProjectRow>(SEGMENT_ENTRIES);
  const segmentStarts = await ask<Work['segmentStarts'][number]>(SEGMENT_STARTS);
  const commands = await ask<Work['commands'][number]>(COMMANDS);
  const merges = await ask<Work['merges'][number]>(MERGES);
  const erasures = await ask<Work['erasures'][number]>(ERASURES);
  const movedDates = await ask<ProjectRow>(MOVED_DATES);
  const occurrences = await ask<ProjectRow>(OCCURRENCES);
  const alerts = await ask<ProjectRow>(ALERTS);
  const deliveries = await ask<Work['deliveries'][number]>(DELIVERIES);
  return {
    alerts: toIds(alerts),
    deliveries,
    pending: toIds(pending),
    dueRuns: toIds(dueRuns),
    queuedSends,
    segments: toIds(segments),
    segmentEntries: toIds(segmentEntries),
    segmentStarts,
    commands,
    movedDates: toIds(movedDates),
    occurrences: toIds(occurrences),
    merges,
    erasures,
    ended: toIds(ended),
    expired: toIds(expired),
  };
};
