import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { LeftIdentifier } from '../identity/identity.ts';
import { reasonsColumn } from './change_reasons.ts';
import type { ChangeReason } from './change_reasons.ts';
import { TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from './traits.ts';

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

/** Inserts profiles. `reasonOf` says why one is made; null stands for something fresh. */
export const insertProfiles = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  erasedBefore: number | null,
  reasonOf: (profileId: string) => ChangeReason | null = () => null,
) =>
  tx.query(sql.unsafe`
    select from profiles.make_profiles(
      project_id => ${projectId},
      profile_ids => ${sql.array([...profileIds], 'uuid')},
      erased_before => ${erasedBefore},
      reasons => ${reasonsColumn(profileIds.map(reasonOf))}
    )
  `);

/** Moves when people were seen by the events of some flushes. Returns what it leaves for `identity.seeLeft`. */
export const seeFlushes = ({ tx, projectId }: Scope, flushIds: readonly string[]) =>
  tx.any(sql.type(LeftIdentifier)`
    select kind, value, first_seen_at, last_seen_at, observed_at, is_known, lag_ms
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

const ZoneSaid = z.strictObject({ profile_id: z.uuid(), timezone: z.string().nullable() });

/** Returns the trait `timezone` of some people, as text. It may be no time zone. */
export const listZones = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<Map<string, string | null>> => {
  const rows = await tx.any(sql.type(ZoneSaid)`
    select profile_id, traits ->> 'timezone' as timezone from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
  `);
  return new Map(rows.map(({ profile_id, timezone }) => [profile_id, timezone]));
};

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

export type Traits = {
  identityId: string;
  traits: Record<string, z.core.util.JSONType>;
  setAt: Date;
  authority: string;
  /** Which browser asserted it; null where it did not say, or a server said it. */
  browserKey: Buffer | null;
};

const Folded = z.strictObject({
  changed_id: z.uuid(),
  old_email: z.string().nullable(),
  new_email: z.string().nullable(),
});
export type Folded = z.output<typeof Folded>;
const Changed = Folded.extend({ identity_id: z.uuid(), is_full: z.boolean() });

/**
 * Changes traits of identities, one after the other. Returns the profiles of those that are not being erased. Of an
 * identity that is full nothing is kept.
 */
export const changeTraits = ({ tx, projectId }: Scope, changes: readonly Traits[]) => {
  const column = (read: (change: Traits) => string | null, type: string) =>
    sql.array(changes.map(read), type);
  return tx.any(sql.type(Changed)`
    select asked.identity_id, changed.changed_id, changed.old_email, changed.new_email, changed.is_full
    from unnest(
      ${column(({ identityId }) => identityId, 'uuid')},
      ${column(({ traits }) => JSON.stringify(traits), 'jsonb')},
      ${column(({ setAt }) => setAt.toISOString(), 'timestamptz')},
      ${column(({ authority }) => authority, 'text')},
      ${column(({ browserKey }) => browserKey?.toString('hex') ?? null, 'text')}
    ) as asked (identity_id, traits, set_at, authority, browser_key)
    cross join lateral profiles.change_traits(
      project_id => ${projectId},
      identity_id => asked.identity_id,
      traits => asked.traits,
      set_at => asked.set_at,
      authority => asked.authority,
      at => now(),
      traits_max => ${TRAIT_KEYS_MAX},
      bytes_max => ${TRAITS_BYTES_MAX},
      browser_key => decode(asked.browser_key, 'hex')
    ) as changed
  `);
};

export const foldProfile = (
  { tx, projectId }: Scope,
  profileId: string,
  reason: ChangeReason | null = null,
) =>
  tx.one(sql.type(Folded)`
    select ${profileId}::uuid as changed_id, old_email, new_email
    from profiles.fold_profile(
      project_id => ${projectId}, profile_id => ${profileId}, at => now(),
      reason => ${reason && JSON.stringify(reason)}::jsonb
    )
  `);

/** Says where a profile went when its only identity was linked; null takes it back. */
export const setMergedInto = ({ tx, projectId }: Scope, profileId: string, into: string | null) =>
  tx.query(sql.unsafe`
    update profiles.profiles set merged_into = ${into}, updated_at = now()
    where project_id = ${projectId} and profile_id = ${profileId}
  `);

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
