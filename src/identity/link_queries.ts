import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

export const LINK_SOURCES = ['identify', 'alias', 'console'] as const;
export const LINK_STATUSES = ['active', 'undone', 'refused'] as const;
export const REFUSED_LINK_REASONS = ['linked_to_another', 'undone_before'] as const;
/** What vouched for a link: a kind of key, or a person's session in the Console. */
export const LINK_KEY_TYPES = ['publishable', 'server', 'session'] as const;

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
});
export type LinkRow = z.output<typeof Link>;

const columns = sql.fragment`link_id, anonymous_id, external_id, profile_id, anonymous_profile_id, source, key_type,
  status, reason, created_at, undone_at, undone_by`;

export type NewLink = Pick<
  LinkRow,
  'link_id' | 'anonymous_id' | 'external_id' | 'source' | 'key_type'
>;

/** No id: one of the two is being erased. */
const Linked = z.strictObject({ answered_id: z.uuid().nullable(), is_new: z.boolean() });

export const linkIdentities = ({ tx, projectId }: Scope, link: NewLink) =>
  tx.one(sql.type(Linked)`
    select answered_id, is_new
    from identity.link_identities(
      project_id => ${projectId},
      link_id => ${link.link_id},
      anonymous_id => ${link.anonymous_id},
      external_id => ${link.external_id},
      source => ${link.source},
      key_type => ${link.key_type},
      at => now()
    )
  `);

const Undone = z.strictObject({ undo_link: z.boolean() });

export const undoLink = async (
  { tx, projectId }: Scope,
  linkId: string,
  undoneBy: string,
): Promise<boolean> => {
  const { undo_link } = await tx.one(sql.type(Undone)`
    select undo_link
    from identity.undo_link(
      project_id => ${projectId}, link_id => ${linkId}, undone_by => ${undoneBy}, at => now()
    )
  `);
  return undo_link;
};

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
