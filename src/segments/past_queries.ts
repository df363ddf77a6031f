import { z } from 'zod';
import type { FragmentSqlToken } from 'slonik';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import type { CountedCondition } from './conditions.ts';
import { DAY_MS } from './moments.ts';
import { isCaused, Told, toldColumns } from './read_queries.ts';
import type { Sought } from './read_queries.ts';

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

const FirstEntry = Told.extend({ place: z.int() });
/** An entry of one person into a segment, or out of it, between two moments. */
export type EntryQuery = Sought & { since: Date; until: Date };

/**
 * Finds when each of some people first entered a segment, or left it, between two moments. Fills and undone links do
 * not count, and what caused an entry must have happened since the first moment.
 */
export const findFirstEntries = async (
  { tx, projectId }: Scope,
  queries: readonly EntryQuery[],
): Promise<(Told | null)[]> => {
  const column = (read: (query: EntryQuery) => string, type: string) =>
    sql.array(queries.map(read), type);
  const rows = await tx.any(sql.type(FirstEntry)`
    select asked.place::int4, first.*
    from unnest(
      ${column(({ segmentId }) => segmentId, 'uuid')}, ${column(({ profileId }) => profileId, 'uuid')},
      ${column(({ change }) => change, 'text')},
      ${column(({ since }) => since.toISOString(), 'timestamptz')},
      ${column(({ until }) => until.toISOString(), 'timestamptz')}
    ) with ordinality as asked (segment_id, profile_id, change, since, until, place)
    cross join lateral (
      select ${toldColumns} from segments.history as found
      where found.project_id = ${projectId} and found.profile_id = asked.profile_id
      and found.segment_id = asked.segment_id and found.change = asked.change and ${isCaused}
      and found.changed_at >= asked.since and found.changed_at <= asked.until
      -- Late events occurred as long before their entry as they were late.
      and (lag_ms is null or found.changed_at - make_interval(secs => lag_ms / 1000.0) >= asked.since)
      order by found.entry
      limit 1
    ) as first
  `);
  const byPlace = new Map(rows.map(({ place, ...entry }) => [place, entry]));
  return queries.map((_, at) => byPlace.get(at + 1) ?? null);
};
