import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { Entry } from '../ingest/ingest.ts';

const Profile = z.strictObject({
  profile_id: z.uuid(),
  email: z.string().nullable(),
  traits: z.record(z.string(), z.json()),
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

export const PROFILES_BY_EMAIL_MAX = 200;

export const listByEmail = ({ tx, projectId }: Scope, email: string) =>
  tx.any(sql.type(Profile)`
    select ${profileColumns} from profiles.profiles
    where project_id = ${projectId} and lower(email) = ${email} and ${isLiving}
    order by profile_id
    limit ${PROFILES_BY_EMAIL_MAX}
  `);

type Traits = {
  identityId: string;
  traits: Record<string, z.core.util.JSONType>;
  setAt: Date;
  authority: string;
};

const Folded = z.strictObject({
  changed_id: z.uuid(),
  old_email: z.string().nullable(),
  new_email: z.string().nullable(),
});
export type Folded = z.output<typeof Folded>;

export const changeTraits = (
  { tx, projectId }: Scope,
  { identityId, traits, setAt, authority }: Traits,
) =>
  tx.one(sql.type(Folded)`
    select changed_id, old_email, new_email
    from profiles.change_traits(
      project_id => ${projectId},
      identity_id => ${identityId},
      traits => ${JSON.stringify(traits)}::jsonb,
      set_at => ${sql.timestamp(setAt)},
      authority => ${authority},
      at => now()
    )
  `);

export const foldProfile = ({ tx, projectId }: Scope, profileId: string) =>
  tx.one(sql.type(Folded)`
    select ${profileId}::uuid as changed_id, old_email, new_email
    from profiles.fold_profile(project_id => ${projectId}, profile_id => ${profileId}, at => now())
  `);

/** Says where a profile went when its only identity was linked; null takes it back. */
export const setMergedInto = ({ tx, projectId }: Scope, profileId: string, into: string | null) =>
  tx.query(sql.unsafe`
    update profiles.profiles set merged_into = ${into}, updated_at = now()
    where project_id = ${projectId} and profile_id = ${profileId}
  `);

export const setTags = ({ tx, projectId }: Scope, profileId: string, tags: string[]) =>
  tx.query(sql.unsafe`
    update profiles.profiles set tags = ${sql.array(tags, 'text')}, updated_at = now()
    where project_id = ${projectId} and profile_id = ${profileId}
    and tags is distinct from ${sql.array(tags, 'text')}
  `);

export const addTagByEmail = ({ tx, projectId }: Scope, email: string, tag: string) =>
  tx.query(sql.unsafe`
    update profiles.profiles
    set tags = array_append(tags, ${tag}), updated_at = now()
    where project_id = ${projectId} and lower(email) = ${email} and not tags @> ${sql.array([tag], 'text')}
  `);

export type Page = {
  limit: number;
  /** Where the page before ended. */
  position: { occurredAt: Date; eventId: string } | null;
  event?: string | undefined;
  /** RFC 3339, exclusive both. */
  after?: string | undefined;
  before?: string | undefined;
};

/**
 * The timeline of some identifiers, newest first. Each identifier's newest are read by key, and no
 * more than a page of them, so the cost does not grow with the past.
 */
export const listEntries = (
  { tx, projectId }: Scope,
  externalIds: string[],
  anonymousIds: string[],
  { limit, position, event, after, before }: Page,
) => {
  const filters = [
    position &&
      sql.fragment`(occurred_at, event_id) < (${sql.timestamp(position.occurredAt)}, ${position.eventId}::uuid)`,
    // Said once more of the time alone, so that months outside are not opened.
    position && sql.fragment`occurred_at <= ${sql.timestamp(position.occurredAt)}`,
    event && sql.fragment`name = ${event}`,
    after && sql.fragment`occurred_at > ${after}::timestamptz`,
    before && sql.fragment`occurred_at < ${before}::timestamptz`,
  ].filter((filter) => typeof filter === 'object' && filter !== null);
  const filtered = sql.join([sql.fragment`true`, ...filters], sql.fragment` and `);
  const columns = sql.fragment`event_id, name as event, external_id, anonymous_id, properties,
    occurred_at, received_at, source`;
  const newestFirst = sql.fragment`order by occurred_at desc, event_id desc limit ${limit}`;
  return tx.any(sql.type(Entry)`
    select entry.* from unnest(${sql.array(externalIds, 'text')}) as known (value)
    cross join lateral (
      select ${columns} from ingest.events
      where project_id = ${projectId} and external_id = known.value and ${filtered}
      ${newestFirst}
    ) as entry
    union all
    select entry.* from unnest(${sql.array(anonymousIds, 'text')}) as known (value)
    cross join lateral (
      select ${columns} from ingest.events
      where project_id = ${projectId} and external_id is null and anonymous_id = known.value and ${filtered}
      ${newestFirst}
    ) as entry
    ${newestFirst}
  `);
};
