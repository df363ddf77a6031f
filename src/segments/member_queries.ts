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
  /** In the order of what is asked; null of what the profile is not asked. */
  holds: z.array(z.boolean().nullable()),
  wake_on: z.iso.date().nullable(),
});

/** Whether `profile` passes a definition, and the days on which that may change, as fragments. */
type Question = { holds: FragmentSqlToken; wakes: readonly FragmentSqlToken[] };
/** As many as there are bits. */
export const QUESTIONS_MAX = 25;

/**
 * Asks some profiles, as far as they live; and when to ask again. Each is asked the questions whose bits are set for
 * it, the first of which has the value 1.
 */
export const askProfiles = (
  { tx, projectId }: Scope,
  questions: readonly Question[],
  asked: ReadonlyMap<string, number>,
) => {
  const isPartial = questions.length > 1;
  const ifAsked = (at: number, what: FragmentSqlToken) =>
    isPartial
      ? sql.fragment`case when asked.bits & ${2 ** at}::integer <> 0 then ${what} end`
      : what;
  const holds = questions.map((one, at) => ifAsked(at, one.holds));
  const wakes = questions.flatMap((one, at) => one.wakes.map((wake) => ifAsked(at, wake)));
  const ids = sql.array([...asked.keys()], 'uuid');
  const bits = isPartial
    ? sql.fragment`join unnest(${ids}, ${sql.array([...asked.values()], 'int4')}) as asked (profile_id, bits)
        on asked.profile_id = profile.profile_id`
    : sql.fragment``;
  return tx.any(sql.type(Asked)`
    select profile.profile_id, profile.created_at as made_at,
      array[${sql.join(holds, sql.fragment`, `)}]::boolean[] as holds,
      least(${sql.join([sql.fragment`null::date`, ...wakes], sql.fragment`, `)})::text as wake_on
    from profiles.profiles as profile
    ${bits}
    where profile.project_id = ${projectId} and profile.profile_id = any (${ids})
    and profile.merged_into is null and profile.erasure_id is null
  `);
};

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
export const CAUSES = ['change', 'time', 'fill', 'undo'] as const;
export type Cause = (typeof CAUSES)[number];
/** A change with its cause, who caused it, and how late the events were that did, as far as that is known. */
export type Entry = Change & {
  cause: Cause;
  source: 'server' | 'browser' | null;
  lagMs: number | null;
};

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

/**
 * Inserts entries of the history. The project is locked, so entries are committed in their order. The release before
 * knows no cause `undo`: for it such an entry is a change.
 */
export const insertHistory = async (
  { tx, projectId }: Scope,
  entries: readonly Entry[],
): Promise<void> => {
  if (entries.length === 0) return;
  const { last_entry } = await tx.one(sql.type(Last)`
    update segments.projects set last_entry = last_entry + ${entries.length}
    where project_id = ${projectId} returning last_entry
  `);
  const values = (read: (entry: Entry) => string | number | boolean | null, type: string) =>
    sql.array(entries.map(read), type);
  await tx.query(sql.unsafe`
    insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, is_undo,
      changed_at, source, lag_ms)
    select ${projectId}, ${last_entry - entries.length}::bigint + told.ordinal, told.segment_id, told.version,
      told.profile_id, told.change, told.cause, told.is_undo, statement_timestamp(), told.source, told.lag_ms
    from unnest(
      ${column(entries, 'segment_id')}, ${values(({ version }) => version, 'int4')},
      ${column(entries, 'profile_id')}, ${values(({ change }) => change, 'text')},
      ${values(({ cause }) => (cause === 'undo' ? 'change' : cause), 'text')},
      ${values(({ cause }) => cause === 'undo', 'bool')}, ${values(({ source }) => source, 'text')},
      ${values(({ lagMs }) => lagMs, 'int8')}
    ) with ordinality as told (segment_id, version, profile_id, change, cause, is_undo, source, lag_ms, ordinal)
  `);
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
