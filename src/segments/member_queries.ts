import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { FragmentSqlToken } from 'slonik';
import type { Scope } from '../base/db.ts';

const Membership = z.strictObject({ segment_id: z.uuid(), profile_id: z.uuid() });
export type Membership = z.output<typeof Membership>;

/** What of some segments some profiles are members of. */
export const listMemberships = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  segmentIds: readonly string[],
) =>
  tx.any(sql.type(Membership)`
    select segment_id, profile_id from segments.members
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and segment_id = any (${sql.array([...segmentIds], 'uuid')})
  `);

const Asked = z.strictObject({
  profile_id: z.uuid(),
  made_at: z.date(),
  holds: z.array(z.boolean()),
  wake_on: z.iso.date().nullable(),
});

/** Asks each of some profiles, as far as they live, whatever is asked of `profile`; and when to ask again. */
export const askProfiles = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  { holds, wakes }: { holds: readonly FragmentSqlToken[]; wakes: readonly FragmentSqlToken[] },
) =>
  tx.any(sql.type(Asked)`
    select profile.profile_id, profile.created_at as made_at,
      array[${sql.join([...holds], sql.fragment`, `)}]::boolean[] as holds,
      least(${sql.join([sql.fragment`null::date`, ...wakes], sql.fragment`, `)})::text as wake_on
    from profiles.profiles as profile
    where profile.project_id = ${projectId} and profile.profile_id = any (${sql.array([...profileIds], 'uuid')})
    and profile.merged_into is null and profile.erasure_id is null
  `);

const Held = z.strictObject({ profile_id: z.uuid(), is_living: z.boolean() });

/** Which of some profiles there are, and whether they live: that stays so until the transaction ends. */
export const holdProfiles = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<Map<string, boolean>> => {
  if (profileIds.length === 0) return new Map();
  const rows = await tx.any(sql.type(Held)`
    select profile_id, erasure_id is null as is_living from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    order by profile_id
    for key share
  `);
  return new Map(rows.map(({ profile_id, is_living }) => [profile_id, is_living]));
};

export type Change = Membership & { version: number; change: 'entered' | 'left' };
/** Who caused changes of people, where that is known. */
export type Sources = ReadonlyMap<string, 'server' | 'browser' | null>;
export type Cause = 'change' | 'time' | 'fill';

const column = (changes: readonly Membership[], name: keyof Membership) =>
  sql.array(
    changes.map((one) => one[name]),
    'uuid',
  );

export const insertMembers = async (
  { tx, projectId }: Scope,
  entering: readonly Membership[],
): Promise<void> => {
  if (entering.length === 0) return;
  await tx.query(sql.unsafe`
    insert into segments.members (project_id, segment_id, profile_id, entered_at)
    select ${projectId}, entering.segment_id, entering.profile_id, statement_timestamp()
    from unnest(${column(entering, 'segment_id')}, ${column(entering, 'profile_id')})
      as entering (segment_id, profile_id)
    order by entering.segment_id, entering.profile_id
    on conflict do nothing
  `);
};

export const deleteMembers = async (
  { tx, projectId }: Scope,
  leaving: readonly Membership[],
): Promise<void> => {
  if (leaving.length === 0) return;
  await tx.query(sql.unsafe`
    delete from segments.members as member
    using unnest(${column(leaving, 'segment_id')}, ${column(leaving, 'profile_id')})
      as leaving (segment_id, profile_id)
    where member.project_id = ${projectId}
    and member.segment_id = leaving.segment_id and member.profile_id = leaving.profile_id
  `);
};

const Last = z.strictObject({ last_entry: z.int() });

/** Writes who came and went; the project is held, so entries are committed in their order. */
export const insertHistory = async (
  { tx, projectId }: Scope,
  changes: readonly Change[],
  { cause, sources }: { cause: Cause; sources: Sources },
): Promise<void> => {
  if (changes.length === 0) return;
  const { last_entry } = await tx.one(sql.type(Last)`
    update segments.projects set last_entry = last_entry + ${changes.length}
    where project_id = ${projectId} returning last_entry
  `);
  await tx.query(sql.unsafe`
    insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at,
      source)
    select ${projectId}, ${last_entry - changes.length}::bigint + told.ordinal, told.segment_id, told.version,
      told.profile_id, told.change, ${cause}, statement_timestamp(), told.source
    from unnest(
      ${column(changes, 'segment_id')},
      ${sql.array(
        changes.map(({ version }) => version),
        'int4',
      )},
      ${column(changes, 'profile_id')},
      ${sql.array(
        changes.map(({ change }) => change),
        'text',
      )},
      ${sql.array(
        changes.map(({ profile_id }) => sources.get(profile_id) ?? null),
        'text',
      )}
    ) with ordinality as told (segment_id, version, profile_id, change, source, ordinal)
  `);
};

export type Wake = { profile_id: string; wake_on: string };

/** When to look at profiles again: then, or at the earlier of then and what was kept. */
export const keepWakes = async (
  { tx, projectId }: Scope,
  wakes: readonly Wake[],
): Promise<void> => {
  if (wakes.length === 0) return;
  await tx.query(sql.unsafe`
    insert into segments.wakeups as kept (project_id, profile_id, wake_at)
    select ${projectId}, wake.profile_id, wake.wake_on::timestamp at time zone 'UTC'
    from unnest(
      ${sql.array(
        wakes.map(({ profile_id }) => profile_id),
        'uuid',
      )},
      ${sql.array(
        wakes.map(({ wake_on }) => wake_on),
        'date',
      )}
    ) as wake (profile_id, wake_on)
    order by wake.profile_id
    on conflict (project_id, profile_id) do update set wake_at = least(kept.wake_at, excluded.wake_at)
  `);
};

/** Sets when people are evaluated next, in place of any moment that was set before. The profiles must exist. */
export const postponeWakes = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  until: Date,
): Promise<void> => {
  if (profileIds.length === 0) return;
  await tx.query(sql.unsafe`
    insert into segments.wakeups (project_id, profile_id, wake_at)
    select ${projectId}, postponed.profile_id, ${sql.timestamp(until)}
    from unnest(${sql.array([...profileIds], 'uuid')}) as postponed (profile_id)
    order by postponed.profile_id
    on conflict (project_id, profile_id) do update set wake_at = excluded.wake_at
  `);
};

export const deleteWakes = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.query(sql.unsafe`
    delete from segments.wakeups
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
  `);

const Due = z.strictObject({ profile_id: z.uuid() });

/** Lists people whose segments are due by time: their day has come, or they could not be evaluated before. */
export const listDueWakes = async (
  { tx, projectId }: Scope,
  now: Date,
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Due)`
    select profile_id from segments.wakeups
    where project_id = ${projectId} and wake_at <= ${sql.timestamp(now)}
    order by wake_at, profile_id
    limit ${limit}
  `);
  return rows.map(({ profile_id }) => profile_id);
};

/** The same of some profiles. */
export const listDueWakesOf = async (
  { tx, projectId }: Scope,
  today: string,
  profileIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Due)`
    select profile_id from segments.wakeups
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and wake_at <= ${today}::timestamp at time zone 'UTC'
  `);
  return rows.map(({ profile_id }) => profile_id);
};

/** Removes members and history of a segment, so many rows of each at most; answers whether there may be more. */
export const deleteOfSegment = async (
  { tx, projectId }: Scope,
  segmentId: string,
  rowsMax: number,
): Promise<boolean> => {
  const members = await tx.query(sql.unsafe`
    delete from segments.members as member
    using (
      select profile_id from segments.members
      where project_id = ${projectId} and segment_id = ${segmentId} order by profile_id limit ${rowsMax}
    ) as page
    where member.project_id = ${projectId} and member.segment_id = ${segmentId}
    and member.profile_id = page.profile_id
  `);
  const history = await tx.query(sql.unsafe`
    delete from segments.history as told
    using (
      select entry from segments.history
      where project_id = ${projectId} and segment_id = ${segmentId} order by entry limit ${rowsMax}
    ) as page
    where told.project_id = ${projectId} and told.entry = page.entry
  `);
  return members.rowCount === rowsMax || history.rowCount === rowsMax;
};

export const deleteSegment = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    delete from segments.segments
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'deleting'
  `);
