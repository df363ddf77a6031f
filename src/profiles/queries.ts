import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { LeftIdentifier } from '../identity/identity.ts';

const Profile = z.strictObject({
  profile_id: z.uuid(),
  email: z.string().nullable(),
  traits: jsonObject<z.core.util.JSONType>(),
  tags: z.array(z.string()),
  merged_into: z.uuid().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type ProfileRow = z.output<typeof Profile>;

export const insertProfiles = (
  { tx, projectId }: Scope,
  profileIds: string[],
  erasedBefore: number | null,
) =>
  tx.query(sql.unsafe`
    select from profiles.make_profiles(
      project_id => ${projectId},
      profile_ids => ${sql.array(profileIds, 'uuid')},
      erased_before => ${erasedBefore}
    )
  `);

/** Moves when people were seen by the events of some flushes. Returns what it leaves for `identity.seeLeft`. */
export const seeFlushes = ({ tx, projectId }: Scope, flushIds: readonly string[]) =>
  tx.any(sql.type(LeftIdentifier)`
    select kind, value, first_seen_at, last_seen_at, observed_at, is_known
    from profiles.see_events(project_id => ${projectId}, flush_ids => ${sql.array([...flushIds], 'uuid')})
  `);

/** Whoever is being erased is not shown any more. */
const isLiving = sql.fragment`erasure_id is null`;
const profileColumns = sql.fragment`profile_id, email, traits, tags, merged_into,
  created_at, updated_at`;

export const findProfile = ({ tx, projectId }: Scope, profileId: string) =>
  tx.maybeOne(sql.type(Profile)`
    select ${profileColumns} from profiles.profiles
    where project_id = ${projectId} and profile_id = ${profileId} and ${isLiving}
  `);

export const listRows = ({ tx, projectId }: Scope, profileIds: string[]) =>
  tx.any(sql.type(Profile)`
    select ${profileColumns} from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array(profileIds, 'uuid')})
    and ${isLiving}
    order by profile_id
  `);

/** Part of a list of profiles, which is in the order of their ids. */
export type ProfilesPage = { limit: number; afterId: string | null };

export const listByEmail = (
  { tx, projectId }: Scope,
  email: string,
  { limit, afterId }: ProfilesPage,
) =>
  tx.any(sql.type(Profile)`
    select ${profileColumns} from profiles.profiles
    where project_id = ${projectId} and address = ${email} and ${isLiving}
    and (${afterId}::uuid is null or profile_id > ${afterId}::uuid)
    order by profile_id
    limit ${limit}
  `);

const LookedAt = z.strictObject({ profile_id: z.uuid(), is_shown: z.boolean() });

/** The newest profiles before one, by their ids, which are in the order of time; and who of them is shown. */
export const lookAtNewest = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) =>
  tx.any(sql.type(LookedAt)`
    select profile_id, (${isLiving} and merged_into is null) as is_shown from profiles.profiles
    where project_id = ${projectId}
    ${beforeId === null ? sql.fragment`` : sql.fragment`and profile_id < ${beforeId}`}
    order by profile_id desc
    limit ${limit}
  `);

const IdOfAddress = z.strictObject({ address: z.string(), profile_id: z.uuid() });

/** The first profiles that have each of some addresses, in the order of their ids. */
export const listIdsByAddress = (
  { tx, projectId }: Scope,
  addresses: readonly string[],
  limit: number,
) =>
  tx.any(sql.type(IdOfAddress)`
    select wanted.address, first.profile_id
    from unnest(${sql.array([...addresses], 'text')}) as wanted (address)
    cross join lateral (
      select profile_id from profiles.profiles
      where project_id = ${projectId} and address = wanted.address and ${isLiving}
      order by profile_id
      limit ${limit}
    ) as first
    order by wanted.address, first.profile_id
  `);

/** Tells whoever watches that people changed, whom nothing else tells of: after the change, under its locks. */
export const noteChanges = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  source: 'server' | 'browser' | null = null,
) =>
  tx.query(sql.unsafe`
    select from profiles.note_changes(
      project_id => ${projectId}, profile_ids => ${sql.array([...profileIds], 'uuid')},
      source => ${source}
    )
  `);

/** Says where a profile went when its only identity was linked; null takes it back. */
export const setMergedInto = ({ tx, projectId }: Scope, profileId: string, into: string | null) =>
  tx.query(sql.unsafe`
    update profiles.profiles set merged_into = ${into}, updated_at = now()
    where project_id = ${projectId} and profile_id = ${profileId}
  `);

const Tagged = z.strictObject({ profile_id: z.uuid() });

/** Gives some profiles, which are held, these tags and no others. */
export const setTags = async (
  scope: Scope,
  profileIds: readonly string[],
  tags: readonly string[],
): Promise<void> => {
  const changed = await scope.tx.any(sql.type(Tagged)`
    update profiles.profiles set tags = ${sql.array([...tags], 'text')}, updated_at = now()
    where project_id = ${scope.projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and tags is distinct from ${sql.array([...tags], 'text')}
    returning profile_id
  `);
  if (changed.length === 0) return;
  await noteChanges(
    scope,
    changed.map(({ profile_id }) => profile_id),
  );
};

const Confirmed = z.strictObject({ profile_id: z.uuid() });

/** Those of some people of whom a server has said that their address is theirs. */
export const listConfirmed = async (
  { tx, projectId }: Scope,
  people: readonly { profileId: string; email: string | null }[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(Confirmed)`
    select profile_id
    from profiles.list_confirmed(
      project_id => ${projectId},
      profile_ids => ${sql.array(
        people.map(({ profileId }) => profileId),
        'uuid',
      )},
      emails => ${sql.array(
        people.map(({ email }) => email),
        'text',
      )}
    ) as profile_id
  `);
  return new Set(rows.map(({ profile_id }) => profile_id));
};

const Holder = z.strictObject({ profile_id: z.uuid(), email: z.string().nullable() });

/** The profiles that have one of some addresses, locked: nobody folds or tags them meanwhile. */
export const holdByAddress = ({ tx, projectId }: Scope, addresses: readonly string[]) =>
  tx.any(sql.type(Holder)`
    select profile_id, email from profiles.profiles
    where project_id = ${projectId} and address = any (${sql.array([...addresses], 'text')})
    order by profile_id
    for no key update
  `);
