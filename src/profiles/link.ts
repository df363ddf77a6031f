import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import type { Limit } from '../base/route.ts';
import * as identity from '../identity/identity.ts';
import type { LinkAnswer, LinkRow } from '../identity/identity.ts';
import { UNDO } from './change_reasons.ts';
import type { ChangeReason } from './change_reasons.ts';
import { refold } from './people.ts';
import { noteChanges } from './change_queries.ts';
import { setMergedInto } from './queries.ts';
import type { Link } from './schema.ts';

export const linkLimits: readonly Limit[] = [
  {
    name: 'Anonymous ids that browsers link to one person, within 24 hours',
    value: identity.BROWSER_LINKS_A_DAY_MAX,
    unit: 'items',
    where: '`anonymous_id`',
  },
  {
    name: 'Links of one person that only browsers vouch for',
    value: identity.BROWSER_LINKS_MAX,
    unit: 'items',
    where: '`anonymous_id`',
  },
  {
    name: 'Refused links of browsers in the log, each side, within 24 hours',
    value: identity.REFUSED_LINKS_A_DAY_MAX,
    unit: 'items',
    where: '`GET /v1/identity-links`',
  },
];

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
  confirmed_at: row.confirmed_at?.toISOString() ?? null,
  replaces: row.replaces,
  replaced_by: row.replaced_by,
});

type Moved = {
  /** The links of one anonymous identity that a change is about. */
  links: readonly (LinkRow | null)[];
  /** The profile that the identity belongs to afterwards. */
  into: string | null;
  reasonOf: (profileId: string) => ChangeReason;
};

/**
 * Folds every profile that gained or lost an identity: two, or three where one link takes the place of another. Locks
 * them in the order of their ids, so that two links cannot deadlock.
 */
const refoldAll = async (scope: Scope, { links, into, reasonOf }: Moved): Promise<void> => {
  const moved = links.filter((link) => link !== null);
  const left = new Set(moved.map(({ anonymous_profile_id }) => anonymous_profile_id));
  const ids = [...new Set([...left, ...moved.map(({ profile_id }) => profile_id)])].toSorted();
  for (const id of ids) await refold(scope, id, reasonOf(id));
  for (const id of left) await setMergedInto(scope, id, into);
  // Also when their traits stay: their timelines changed.
  await noteChanges(scope, ids, { reasons: ids.map(reasonOf) });
};

/** Returns why a link changes a profile: a person who loses a device to a server's link loses it by an undo. */
const linkReason = ({ profile_id, anonymous_profile_id }: LinkRow, replaced: LinkRow | null) => {
  const link: ChangeReason = { kind: 'link', own_profile_id: anonymous_profile_id };
  const lostBy = replaced?.profile_id;
  return (id: string): ChangeReason => (id === lostBy && id !== profile_id ? UNDO : link);
};

/** An anonymous identity that a link or an undo gave to another profile. */
export type MovedIdentity = {
  anonymousId: string;
  /** The profile that it has without links. */
  ownProfileId: string;
  /** The profile that it belongs to now, and the one that it belonged to before. */
  joined: string;
  left: string;
  /** Whether a page made the link. An undo is never of a page. */
  isOfPage: boolean;
};

/** Runs in the transaction of a link or an undo. */
export type AfterLink = (scope: Scope, moved: MovedIdentity) => Promise<void>;

/** The same for modules above this one, which answer with jobs to wake after the commit. */
export type OnLinked = (scope: Scope, moved: MovedIdentity) => Promise<readonly Hint[]>;

/** Gathers the jobs to wake while links are made. */
export const gather = (onLinked: OnLinked | undefined) => {
  const hints: Hint[] = [];
  const afterLink: AfterLink = async (scope, moved) => {
    hints.push(...((await onLinked?.(scope, moved)) ?? []));
  };
  return { hints, afterLink };
};

type Wish = Parameters<typeof identity.link>[1];

/**
 * Links two identities and returns the row of the log, which says whether the link was refused. Null when one of the
 * two is being erased, or when the log has no room for one more refusal of a browser.
 */
export const linkPeople = async (
  scope: Scope,
  wish: Wish,
  afterLink?: AfterLink,
): Promise<LinkRow | null> => (await makeLink(scope, wish, afterLink))?.link ?? null;

/** Does the same, and returns also whether this call made the row. */
export const makeLink = async (
  scope: Scope,
  wish: Wish,
  afterLink?: AfterLink,
): Promise<LinkAnswer | null> => {
  const made = await identity.link(scope, wish);
  if (made?.isNew && made.link.status === 'active') {
    const { link, replaced } = made;
    const reasonOf = linkReason(link, replaced);
    await refoldAll(scope, { links: [link, replaced], into: link.profile_id, reasonOf });
    await afterLink?.(scope, {
      anonymousId: link.anonymous_id,
      ownProfileId: link.anonymous_profile_id,
      joined: link.profile_id,
      left: replaced?.profile_id ?? link.anonymous_profile_id,
      isOfPage: link.key_type === 'publishable',
    });
  }
  return made;
};

/**
 * Undoes a link: every profile becomes what it would be had the link never existed, from what its own identities were
 * told. That includes the browser's link that it had replaced, which is active again. Undoing twice changes nothing
 * more. Returns null when there is no such link.
 */
export const unlinkPeople = async (
  scope: Scope,
  linkId: string,
  undoneBy: string,
  afterLink?: AfterLink,
): Promise<LinkRow | null> => {
  const { isUndone, restored } = await identity.unlink(scope, linkId, undoneBy);
  const link = await identity.findLink(scope, linkId);
  if (link && isUndone) {
    const into = restored?.profile_id ?? null;
    await refoldAll(scope, { links: [link, restored], into, reasonOf: () => UNDO });
    await afterLink?.(scope, {
      anonymousId: link.anonymous_id,
      ownProfileId: link.anonymous_profile_id,
      joined: restored?.profile_id ?? link.anonymous_profile_id,
      left: link.profile_id,
      isOfPage: false,
    });
  }
  return link;
};
