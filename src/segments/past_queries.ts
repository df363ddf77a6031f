import { z } from 'zod';
import type { FragmentSqlToken } from 'slonik';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import type { CountedCondition } from './conditions.ts';
import { DAY_MS } from './moments.ts';
import { isCaused } from './read_queries.ts';
import type { Sought, Told } from './read_queries.ts';

const Past = z.strictObject({
  segment_id: z.uuid(),
  created_at: z.date(),
  include_suppressed: z.boolean().nullable(),
  /** Was checked where it came in; null of a static segment. */
  where: z.json().nullable(),
});

/** Some segments with what they ask today, and since when there are any members to know of. */
export const listPastSegments = ({ tx, projectId }: Scope, segmentIds: readonly string[]) =>
  tx.any(sql.type(Past)`
    select segment.segment_id, segment.created_at,
      (version.definition ->> 'include_suppressed')::boolean as include_suppressed,
      version.definition -> 'where' as where
    from segments.segments as segment
    left join segments.versions as version
      on version.project_id = segment.project_id and version.segment_id = segment.segment_id
      and version.version = segment.version and version.project_id = ${projectId}
    where segment.project_id = ${projectId} and segment.segment_id = any (${sql.array([...segmentIds], 'uuid')})
  `);

const Membership = z.strictObject({ segment_id: z.uuid() });

/** Which of some segments a profile was in at a moment, by who came and went. */
export const listMembershipsAt = (
  { tx, projectId }: Scope,
  profileId: string,
  { segmentIds, at }: { segmentIds: readonly string[]; at: Date },
) =>
  tx.any(sql.type(Membership)`
    select last.segment_id
    from (
      select distinct on (segment_id) segment_id, change from segments.history
      where project_id = ${projectId} and profile_id = ${profileId}
      and segment_id = any (${sql.array([...segmentIds], 'uuid')}) and changed_at <= ${sql.timestamp(at)}
      order by segment_id, entry desc
    ) as last
    where last.change = 'entered'
  `);

const Entry = z.strictObject({
  entry: z.int(),
  profile_id: z.uuid(),
  changed_at: z.date(),
  lag_ms: z.int().nullable(),
});
export type PastEntry = z.output<typeof Entry>;

/** When some profiles entered or left a segment since a moment, in order, without entries of fills and undone links. */
export const listEntriesOf = (
  { tx, projectId }: Scope,
  { segmentId, change }: { segmentId: Sought['segmentId']; change: Told['change'] },
  { profileIds, since }: { profileIds: readonly string[]; since: Date },
) =>
  tx.any(sql.type(Entry)`
    select entry, profile_id, changed_at, lag_ms from segments.history
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and segment_id = ${segmentId} and change = ${change} and ${isCaused}
    and changed_at >= ${sql.timestamp(since)}
    order by entry
  `);

const Counted = z.strictObject({
  day: z.int(),
  count: z.int(),
  first_at: z.date(),
  last_at: z.date(),
});

/** What would have been counted of somebody for a condition at a moment: from the events that had come by then. */
export const countAt = (
  { tx, projectId }: Scope,
  known: readonly { kind: 'external' | 'anonymous'; value: string }[],
  { condition, at }: { condition: CountedCondition; at: Date },
) => {
  // As far ahead as a client's clock may be.
  const tomorrow = new Date(at.getTime() + DAY_MS);
  const eventsOf = (kind: string, column: FragmentSqlToken) => sql.fragment`
    select event.occurred_at from ingest.events as event
    where event.project_id = ${projectId} and known.kind = ${kind} and ${column} = known.value
    and ${ingest.isNamed(condition.event)} and event.occurred_at <= ${sql.timestamp(tomorrow)}
    and ${ingest.arrivedBy(at)}
    and segments.passes(event.properties, ${JSON.stringify(condition.filters)}::jsonb)`;
  const column = (read: (one: (typeof known)[number]) => string) =>
    sql.array(known.map(read), 'text');
  return tx.any(sql.type(Counted)`
    select (seen.occurred_at at time zone 'UTC')::date - 'epoch'::date as day, count(*) as count,
      min(seen.occurred_at) as first_at, max(seen.occurred_at) as last_at
    from unnest(${column(({ kind }) => kind)}, ${column(({ value }) => value)}) as known (kind, value)
    cross join lateral (
      ${eventsOf('external', sql.fragment`event.external_id`)}
      union all
      ${eventsOf('anonymous', sql.fragment`event.external_id is null and event.anonymous_id`)}
    ) as seen
    group by 1
  `);
};
