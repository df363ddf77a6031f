import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import {
  deleteIdentities,
  deleteLinks,
  holdErased,
  holdLiving,
  holdPerson,
  listErased,
  listMembers,
  markErased,
  scanIdentities,
} from './erase_queries.ts';
import type { Member, Scanned } from './erase_queries.ts';
import {
  findLink,
  getLink,
  linkIdentities,
  listActiveLinks,
  listLinks,
  undoLink,
} from './link_queries.ts';
import type { LinkRow, NewLink } from './link_queries.ts';
import { listByIds, listByProfiles, listLinksEver } from './past_queries.ts';
import type { PastIdentity, PastLink } from './past_queries.ts';
import {
  findById,
  findByValue,
  listByValues,
  listFirst,
  listNamesOf,
  listSeenTimes,
  seeIdentifiers,
  SeenIdentifier,
} from './queries.ts';
import type { Identity, Person } from './queries.ts';

export { findById, findByValue, findLink, listByValues, listFirst, SeenIdentifier };
export { listNamesOf, listSeenTimes };
export { listActiveLinks, listLinks };
export { listByIds, listByProfiles, listLinksEver };
export { holdErased, holdLiving, holdPerson, listErased, listMembers, markErased, scanIdentities };
export {
  LINK_KEY_TYPES,
  LINK_SOURCES,
  LINK_STATUSES,
  REFUSED_LINK_REASONS,
} from './link_queries.ts';
export { IDENTIFIER_KINDS } from './queries.ts';
export type { LinkRow, Member, Scanned };
export type { Identity, PastIdentity, PastLink, Person };

/**
 * Finds or makes the identity behind each identifier, and answers with all of them.
 * A new identity comes with the id of a profile that is still to be made.
 */
export const see = async (
  scope: Scope,
  seen: readonly SeenIdentifier[],
): Promise<readonly Person[]> => {
  if (seen.length === 0) return [];
  return seeIdentifiers(
    scope,
    seen.map((identifier) => ({ ...identifier, identity_id: newId(), profile_id: newId() })),
  );
};

/** What came of asking for a link: the log's row, and whether this call made it. */
export type LinkAnswer = { link: LinkRow; isNew: boolean };

/**
 * Links an anonymous identity to an external one, both of which exist, or logs why not. The same
 * wish twice answers with the same row. Null, and nothing logged, when one of them is being erased.
 */
export const link = async (
  scope: Scope,
  wish: Omit<NewLink, 'link_id'>,
): Promise<LinkAnswer | null> => {
  const { answered_id, is_new } = await linkIdentities(scope, { ...wish, link_id: newId() });
  if (answered_id === null) return null;
  return { link: await getLink(scope, answered_id), isNew: is_new };
};

/** Cuts an active link; answers whether it did. */
export const unlink = (scope: Scope, linkId: string, undoneBy: string): Promise<boolean> =>
  undoLink(scope, linkId, undoneBy);

/** Forgets identities that are held, and every link that names them; answers how many of each. */
export const forget = async (
  scope: Scope,
  members: readonly Member[],
): Promise<{ identities: number; links: number }> => ({
  links: await deleteLinks(
    scope,
    members.map(({ own_profile_id }) => own_profile_id),
  ),
  identities: await deleteIdentities(
    scope,
    members.map(({ identity_id }) => identity_id),
  ),
});
