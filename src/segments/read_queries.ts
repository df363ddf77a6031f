import { z } from 'zod';
import type { FragmentSqlToken } from 'slonik';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { isNamed } from '../ingest/ingest.ts';
import { CAUSES } from './member_queries.ts';

const Member = z.strictObject({ profile_id: z.uuid(), entered_at: z.date() });
export type MemberRow = z.output<typeof Member>;

/** Members who live, in the order of their ids. */
export const listMembers = (
  { tx, projectId }: Scope,
  segmentId: string,
  { limit, afterId }: { limit: number; afterId: string | null },
) => {
  const later = afterId ? sql.fragment`and member.profile_id > ${afterId}` : sql.fragment``;
  return tx.any(sql.type(Member)`
    select member.profile_id, member.entered_at
    from segments.members as member
    join profiles.profiles as profile
      on profile.project_id = member.project_id and profile.profile_id = member.profile_id
    where member.project_id = ${projectId} and profile.project_id = ${projectId}
    and member.segment_id = ${segmentId} and profile.erasure_id is null ${later}
    order by member.profile_id
    limit ${limit}
  `);
};

export const Told = z.strictObject({
  entry: z.int(),
  segment_id: z.uuid(),
  version: z.int(),
  profile_id: z.uuid(),
  change: z.enum(['entered', 'left']),
  cause: z.enum(CAUSES),
  changed_at: z.date(),
  source: z.enum(['server', 'browser']).nullable(),
  /** How late the events were without which it would not have happened; null where it would have. */
  lag_ms: z.int().nullable(),
});
export type Told = z.output<typeof Told>;

export const toldColumns = sql.fragment`entry, segment_id, version, profile_id, change,
  case when is_undo then 'undo' else cause end as cause, changed_at, source, lag_ms`;

/** Whether an entry is one that a person caused: neither a fill nor the undo of a link. */
export const isCaused = sql.fragment`(cause <> 'fill' and not is_undo)`;

/** Who came and went in a segment, the last first. */
export const listHistory = (
  { tx, projectId }: Scope,
  segmentId: string,
  { limit, before }: { limit: number; before: number | null },
) => {
  const earlier = before === null ? sql.fragment`` : sql.fragment`and entry < ${before}::bigint`;
  return tx.any(sql.type(Told)`
    select ${toldColumns} from segments.history
    where project_id = ${projectId} and segment_id = ${segmentId} ${earlier}
    order by entry desc
    limit ${limit}
  `);
};

/** The same of the whole project after an entry, in the order in which it was committed. */
export const listHistoryAfter = ({ tx, projectId }: Scope, after: number, limit: number) =>
  tx.any(sql.type(Told)`
    select ${toldColumns} from segments.history
    where project_id = ${projectId} and entry > ${after}::bigint
    order by entry
    limit ${limit}
  `);

/** The same of one profile, page by page. */
export const listHistoryOf = (
  { tx, projectId }: Scope,
  profileId: string,
  { after, limit }: { after: number; limit: number },
) =>
  tx.any(sql.type(Told)`
    select ${toldColumns} from segments.history
    where project_id = ${projectId} and profile_id = ${profileId} and entry > ${after}::bigint
    order by entry
    limit ${limit}
  `);

export type Sought = { segmentId: string; profileId: string; change: Told['change'] };

/** Returns the last entry of that kind, whatever its cause. */
export const findLastEntry = ({ tx, projectId }: Scope, { segmentId, profileId, change }: Sought) =>
  tx.maybeOne(sql.type(Told)`
    select ${toldColumns} from segments.history
    where project_id = ${projectId} and profile_id = ${profileId} and segment_id = ${segmentId}
    and change = ${change}
    order by entry desc
    limit 1
  `);

/** The newest entries of a segment since a moment, oldest first, without those of fills and undone links. */
export const listPastEntries = async (
  { tx, projectId }: Scope,
  { segmentId, change }: Pick<Sought, 'segmentId' | 'change'>,
  { since, limit }: { since: Date; limit: number },
): Promise<Told[]> => {
  const rows = await tx.any(sql.type(Told)`
    select ${toldColumns} from segments.history
    where project_id = ${projectId} and segment_id = ${segmentId} and change = ${change} and ${isCaused}
    and changed_at >= ${sql.timestamp(since)}
    order by entry desc
    limit ${limit}
  `);
  return rows.toReversed();
};

const LastEntry = z.strictObject({ last_entry: z.int() });

/** The number of the last entry of a project's history; 0 before there is any. */
export const readLastEntry = async ({ tx, projectId }: Scope): Promise<number> =>
  (
    await tx.maybeOne(sql.type(LastEntry)`
      select last_entry from segments.projects where project_id = ${projectId}
    `)
  )?.last_entry ?? 0;

const Holder = z.strictObject({ profile_id: z.uuid() });

/** Lists those of some people who match a condition on `profile`. */
export const listHolders = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  holds: FragmentSqlToken,
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(Holder)`
    select profile.profile_id
    from unnest(${sql.array([...profileIds], 'uuid')}) as asked (profile_id)
    cross join lateral (
      select project_id, profile_id, email, traits, tags from profiles.profiles as found
      where found.project_id = ${projectId} and found.profile_id = asked.profile_id
      and found.merged_into is null and found.erasure_id is null
      limit 1
    ) as profile
    where ${holds}
  `);
  return new Set(rows.map(({ profile_id }) => profile_id));
};

const Counter = z.strictObject({
  condition_id: z.uuid(),
  day: z.int(),
  count: z.int(),
  first_at: z.date(),
  last_at: z.date(),
});

/** What was counted of a profile for some conditions, over all of its identities. */
export const listCountersOf = (
  { tx, projectId }: Scope,
  profileId: string,
  conditionIds: readonly string[],
) =>
  tx.any(sql.type(Counter)`
    select counted.condition_id, counted.day - 'epoch'::date as day, counted.count, counted.first_at, counted.last_at
    from identity.identities as known
    join segments.counters as counted
      on counted.project_id = known.project_id and counted.identity_id = known.identity_id
    where known.project_id = ${projectId} and counted.project_id = ${projectId}
    and known.profile_id = ${profileId} and known.erasure_id is null
    and counted.condition_id = any (${sql.array([...conditionIds], 'uuid')})
  `);

const Deciding = z.strictObject({ event_id: z.uuid(), occurred_at: z.date() });

export type Wanted = {
  event: string;
  filters: unknown;
  from: Date;
  to: Date;
  /** How many are answered, and how many of each identity are looked at for them. */
  eventsMax: number;
  lookedMax: number;
};

/** The newest events of a profile that a condition counts, within what was counted. */
export const listDeciding = (
  { tx, projectId }: Scope,
  profileId: string,
  { event: name, filters, from, to, eventsMax, lookedMax }: Wanted,
) => {
  const eventsOf = (kind: 'external' | 'anonymous', column: FragmentSqlToken) => sql.fragment`
    select event.event_id, event.occurred_at, event.name, event.source, event.properties
    from identity.identities as known
    cross join lateral (
      select event_id, occurred_at, name, source, properties from ingest.events
      where project_id = ${projectId} and ${column} = known.value
      and occurred_at between ${sql.timestamp(from)} and ${sql.timestamp(to)}
      order by occurred_at desc
      limit ${lookedMax}
    ) as event
    where known.project_id = ${projectId} and known.profile_id = ${profileId} and known.kind = ${kind}
    and known.erasure_id is null`;
  return tx.any(sql.type(Deciding)`
    select event.event_id, event.occurred_at
    from (
      ${eventsOf('external', sql.fragment`external_id`)}
      union all
      ${eventsOf('anonymous', sql.fragment`external_id is null and anonymous_id`)}
    ) as event
    where ${isNamed(name)} and segments.passes(event.properties, ${JSON.stringify(filters)}::jsonb)
    order by event.occurred_at desc, event.event_id desc
    limit ${eventsMax}
  `);
};

const Previewed = z.strictObject({ profile_id: z.uuid(), is_member: z.boolean() });

/** Asks the newest profiles, so many at most, whatever is asked of `profile`. */
export const askNewest = (
  { tx, projectId }: Scope,
  { holds, profilesMax }: { holds: FragmentSqlToken; profilesMax: number },
) =>
  tx.any(sql.type(Previewed)`
    select profile.profile_id, ${holds} as is_member
    from (
      select project_id, profile_id, email, traits, tags from profiles.profiles
      where project_id = ${projectId} and merged_into is null and erasure_id is null
      order by profile_id desc
      limit ${profilesMax}
    ) as profile
  `);
