import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

export const LINK_SOURCES = ['identify', 'alias', 'console'] as const;
export const LINK_STATUSES = ['active', 'undone', 'refused'] as const;
export const REFUSED_LINK_REASONS = [
  'linked_to_another',
  'undone_before',
  'too_many_links_today',
  'too_many_links',
] as const;
/** What vouched for a link: a kind of key, or a person's session in the Console. */
export const LINK_KEY_TYPES = ['publishable', 'server', 'session'] as const;

/**
 * How many anonymous ids browsers may link to one person within 24 hours. People use a few devices; a test account that
 * signs in with fresh browsers all day reaches it, and loses nothing but the past of those browsers.
 */
export const BROWSER_LINKS_A_DAY_MAX = 10;
/**
 * How many links of one person only browsers may vouch for: two browsers that drop their storage every week, for nearly
 * the 24 months that a timeline is kept.
 */
export const BROWSER_LINKS_MAX = 200;
/** How many refusals of browsers the log takes within 24 hours, for each person and for each anonymous id. */
export const REFUSED_LINKS_A_DAY_MAX = 10;

const Link = z.strictObject({
  link_id: z.uuid(),
  anonymous_id: z.string(),
  external_id: z.string(),
  profile_id: z.uuid(),
  anonymous_profile_id: z.uuid(),
  source: z.enum(LINK_SOURCES),
  key_type: z.enum(LINK_KEY_TYPES),
  status: z.enum(LINK_STATUSES),
  reason: z.enum(REFUSED_LINK_REASONS).nullable(),
  created_at: z.date(),
  undone_at: z.date().nullable(),
  undone_by: z.string().nullable(),
  /** When a server said the same as the browser that made it. */
  confirmed_at: z.date().nullable(),
  /** The browser's link that this one replaced. */
  replaces: z.uuid().nullable(),
  /** The server's link that replaced this one, whose undo makes this one active again. */
  replaced_by: z.uuid().nullable(),
});
export type LinkRow = z.output<typeof Link>;

const columns = sql.fragment`link_id, anonymous_id, external_id, profile_id, anonymous_profile_id, source, key_type,
  status, reason, created_at, undone_at, undone_by, confirmed_at, replaces, replaced_by`;

export type NewLink = Pick<
  LinkRow,
  'link_id' | 'anonymous_id' | 'external_id' | 'source' | 'key_type'
>;

/** No id: one of the two is being erased, or the log has no room for one more refusal of a browser. */
const Linked = z.strictObject({
  answered_id: z.uuid().nullable(),
  is_new: z.boolean(),
  replaced_id: z.uuid().nullable(),
});

export const linkIdentities = ({ tx, projectId }: Scope, link: NewLink) =>
  tx.one(sql.type(Linked)`
    select answered_id, is_new, replaced_id
    from identity.link_identities(
      project_id => ${projectId},
      link_id => ${link.link_id},
      anonymous_id => ${link.anonymous_id},
      external_id => ${link.external_id},
      source => ${link.source},
      key_type => ${link.key_type},
      at => now(),
      day_began_at => now() - interval '24 hours',
      links_a_day_max => ${BROWSER_LINKS_A_DAY_MAX},
      links_max => ${BROWSER_LINKS_MAX},
      refusals_a_day_max => ${REFUSED_LINKS_A_DAY_MAX}
    )
  `);

const Undone = z.strictObject({ is_undone: z.boolean(), restored_id: z.uuid().nullable() });

export const undoLink = ({ tx, projectId }: Scope, linkId: string, undoneBy: string) =>
  tx.one(sql.type(Undone)`
    select is_undone, restored_id
    from identity.undo_link(
      project_id => ${projectId}, link_id => ${linkId}, undone_by => ${undoneBy}, at => now()
    )
  `);

export const findLink = ({ tx, projectId }: Scope, linkId: string) =>
  tx.maybeOne(sql.type(Link)`
    select ${columns} from identity.links where project_id = ${projectId} and link_id = ${linkId}
  `);

export const getLink = ({ tx, projectId }: Scope, linkId: string) =>
  tx.one(sql.type(Link)`
    select ${columns} from identity.links where project_id = ${projectId} and link_id = ${linkId}
  `);

/** Links that stand and that one of some profiles takes part in, on either side. */
export const listActiveLinks = ({ tx, projectId }: Scope, profileIds: readonly string[]) => {
  const ids = sql.array(profileIds, 'uuid');
  return tx.any(sql.type(Link)`
    select ${columns} from identity.links
    where project_id = ${projectId} and (profile_id = any (${ids}) or anonymous_profile_id = any (${ids}))
    and status = 'active'
    order by link_id
  `);
};

const LinkedTo = z.strictObject({ anonymous_id: z.string(), external_id: z.string().nullable() });

/** Lists which of some anonymous ids exist, each with the external id of its active link, or null. */
export const listLinkedTo = ({ tx, projectId }: Scope, anonymousIds: readonly string[]) =>
  tx.any(sql.type(LinkedTo)`
    select known.value as anonymous_id, linked.external_id
    from unnest(${sql.array([...anonymousIds], 'text')}) as wanted (value)
    cross join lateral (
      select identity_id, value from identity.identities
      where project_id = ${projectId} and kind = 'anonymous' and value = wanted.value
      limit 1
    ) as known
    left join lateral (
      select external_id from identity.links
      where project_id = ${projectId} and anonymous_identity_id = known.identity_id and status = 'active'
      limit 1
    ) as linked on true
  `);

export type LinkFilter = {
  limit: number;
  beforeId: string | null;
  /** Links that this profile took part in, on either side. */
  profileId: string | null;
  status: LinkRow['status'] | null;
  source?: LinkRow['source'] | null;
  /** Links of these identities, on either side. */
  identityIds?: readonly string[] | null;
  /** From this id on: those that were made since. */
  fromId?: string | null;
};

const ofIdentities = (identityIds: readonly string[]) => {
  const ids = sql.array([...identityIds], 'uuid');
  return sql.fragment`(anonymous_identity_id = any (${ids}) or external_identity_id = any (${ids}))`;
};

/**
 * Most links stand and came by identify; the others have indexes that hold nothing else. A plan that knows no values
 * takes one of them only where the statement itself says that it is about the others.
 */
const ofStatus = (status: LinkRow['status']) =>
  status === 'active'
    ? sql.fragment`status = 'active'`
    : sql.fragment`status = ${status} and status <> 'active'`;
const ofSource = (source: LinkRow['source']) =>
  source === 'identify'
    ? sql.fragment`source = 'identify'`
    : sql.fragment`source = ${source} and source <> 'identify'`;

/** Newest first: ids are time-ordered. */
export const listLinks = ({ tx, projectId }: Scope, filter: LinkFilter) => {
  const conditions = [
    sql.fragment`project_id = ${projectId}`,
    filter.beforeId ? sql.fragment`link_id < ${filter.beforeId}` : null,
    filter.profileId
      ? sql.fragment`(profile_id = ${filter.profileId} or anonymous_profile_id = ${filter.profileId})`
      : null,
    filter.status ? ofStatus(filter.status) : null,
    filter.source ? ofSource(filter.source) : null,
    filter.identityIds ? ofIdentities(filter.identityIds) : null,
    filter.fromId ? sql.fragment`link_id >= ${filter.fromId}` : null,
  ].filter((condition) => condition !== null);
  return tx.any(sql.type(Link)`
    select ${columns} from identity.links
    where ${sql.join(conditions, sql.fragment` and `)}
    order by link_id desc
    limit ${filter.limit}
  `);
};
