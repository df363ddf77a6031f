import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import { refold } from './people.ts';
import { noteChanges, setMergedInto } from './queries.ts';
import type { Link } from './schema.ts';

/** A link as the API shows it. */
export const toLink = (row: LinkRow): Link => ({
  id: row.link_id,
  anonymous_id: row.anonymous_id,
  external_id: row.external_id,
  profile_id: row.profile_id,
  source: row.source,
  key_type: row.key_type,
  status: row.status,
  ...(row.reason === null ? {} : { reason: row.reason }),
  created_at: row.created_at.toISOString(),
  undone_at: row.undone_at?.toISOString() ?? null,
  undone_by: row.undone_by,
});

/** Profiles are locked in the order of their ids, so that two links cannot deadlock. */
const refoldBoth = async (scope: Scope, link: LinkRow): Promise<void> => {
  const ids = [link.profile_id, link.anonymous_profile_id].toSorted();
  for (const id of ids) await refold(scope, id);
  // Also when their traits stay: what they did is somebody else's now.
  await noteChanges(scope, ids);
};

/** What else follows from a link, in its transaction: told of the profile that both are by now. */
export type AfterLink = (scope: Scope, profileId: string) => Promise<void>;

/**
 * What came of a wish to link: the log's row, which says when it was refused. Null when one of the two is
 * being erased: they are linked to nobody any more.
 */
export const linkPeople = async (
  scope: Scope,
  wish: Parameters<typeof identity.link>[1],
  afterLink?: AfterLink,
): Promise<LinkRow | null> => {
  const made = await identity.link(scope, wish);
  if (made?.isNew && made.link.status === 'active') {
    await setMergedInto(scope, made.link.anonymous_profile_id, made.link.profile_id);
    await refoldBoth(scope, made.link);
    await afterLink?.(scope, made.link.profile_id);
  }
  return made?.link ?? null;
};

/**
 * Undoes a link: both profiles become what they would be had it never existed, from what their own
 * identities were told. Undoing twice changes nothing more. Null when there is no such link.
 */
export const unlinkPeople = async (
  scope: Scope,
  linkId: string,
  undoneBy: string,
): Promise<LinkRow | null> => {
  const isCut = await identity.unlink(scope, linkId, undoneBy);
  const link = await identity.findLink(scope, linkId);
  if (link && isCut) {
    await setMergedInto(scope, link.anonymous_profile_id, null);
    await refoldBoth(scope, link);
  }
  return link;
};
