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
  listLinkedTo,
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
  LeftIdentifier,
  listSeenTimes,
  moveSeen,
  seeIdentifiers,
  toSeen,
} from './queries.ts';
import type { Identity, Person, SeenIdentifier } from './queries.ts';

export { findById, findByValue, findLink, LeftIdentifier, listByValues, listFirst };
export { listNamesOf, listSeenTimes };
export { listActiveLinks, listLinkedTo, listLinks };
export { listByIds, listByProfiles, listLinksEver };
export { deleteIdentities };
export { listAnonymous, lockAnonymous } from './anonymous_queries.ts';
export { pruneRefusedLinks } from './prune_refused.ts';
export { holdErased, holdLiving, holdPerson, listErased, listMembers, markErased, scanIdentities };
export {
  BROWSER_LINKS_A_DAY_MAX,
  BROWSER_LINKS_MAX,
  LINK_KEY_TYPES,
  LINK_SOURCES,
  LINK_STATUSES,
  REFUSED_LINK_REASONS,
  REFUSED_LINKS_A_DAY_MAX,
} from './link_queries.ts';
export { IDENTIFIER_KINDS } from './queries.ts';
export type { LinkRow, Member, Scanned };
export type { Identity, PastIdentity, PastLink, Person, SeenIdentifier };

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

/**
 * Does the same for what `identity.move_seen` has left, and moves when the known identities among them were seen. Those
 * are locked with the others first, so that all are locked in one order.
 */
export const seeLeft = async (
  scope: Scope,
  left: readonly LeftIdentifier[],
): Promise<readonly Person[]> => {
  const people = await see(scope, left.map(toSeen));
  const known = left.filter(({ is_known }) => is_known);
  if (known.length > 0) await moveSeen(scope, known);
  return people;
};

/** The row of the log, whether this call made it, and the browser's link that it replaced. */
export type LinkAnswer = { link: LinkRow; isNew: boolean; replaced: LinkRow | null };

/**
 * Links an anonymous identity to an external one, both of which exist, or logs why not. A server replaces a link that
 * only a browser vouches for. Repeating the call returns the same row. Returns null, and logs nothing, when one of the
 * two is being erased, or when the log has no room for one more refusal of a browser.
 */
export const link = async (
  scope: Scope,
  wish: Omit<NewLink, 'link_id'>,
): Promise<LinkAnswer | null> => {
  const answer = await linkIdentities(scope, { ...wish, link_id: newId() });
  if (answer.answered_id === null) return null;
  return {
    link: await getLink(scope, answer.answered_id),
    isNew: answer.is_new,
    replaced: answer.replaced_id === null ? null : await getLink(scope, answer.replaced_id),
  };
};

/** Whether an active link was undone, and the link that is active again because of it. */
export type UnlinkAnswer = { isUndone: boolean; restored: LinkRow | null };

/** Undoes a link. A browser's link that it had replaced becomes active again. */
export const unlink = async (
  scope: Scope,
  linkId: string,
  undoneBy: string,
): Promise<UnlinkAnswer> => {
  const { is_undone, restored_id } = await undoLink(scope, linkId, undoneBy);
  const restored = restored_id === null ? null : await getLink(scope, restored_id);
  return { isUndone: is_undone, restored };
};

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
