import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { timeOfId } from '../base/ids.ts';
import { PAGE_ITEMS_MAX, readCursor, toCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import * as identity from '../identity/identity.ts';
import type { Identity } from '../identity/identity.ts';
import * as suppression from '../suppression/suppression.ts';
import { findProfile, listByEmail, listIdsByAddress, listRows, lookAtNewest } from './queries.ts';
import type { ProfileRow, ProfilesPage } from './queries.ts';
import { IDENTIFIERS_SHOWN_MAX } from './schema.ts';
import type { Profile } from './schema.ts';

export { erase, eraseHint } from './erase.ts';
export { countErased } from './erase_queries.ts';
export { pruneAnonymous } from './prune_anonymous.ts';
export { alias, identify } from './identify.ts';
export { labelIdentities, labelProfiles } from './labels.ts';
export { linkPeople, unlinkPeople } from './link.ts';
export type { OnLinked, MovedIdentity } from './link.ts';
export { findForEmail, isOfBrowser, readForEmail, traitsForEmail } from './for_email.ts';
export type { Addressee, Asserted, ForEmail } from './for_email.ts';
export { listMembers } from './members.ts';
export {
  changeAddresses,
  changeTraits,
  changeTraitsOf,
  holdProfiles,
  seeEvents,
  seePeople,
} from './people.ts';
export { aspectOf } from './aspects.ts';
export type { Aspects } from './aspects.ts';
export { noteChanges } from './change_queries.ts';
export { listConfirmed, listZones } from './queries.ts';
export { PastPeople } from './past.ts';
export type { Imagined, PastPerson } from './past.ts';
export { LedgerEntry, listLedger, replayErasures } from './replay.ts';
export {
  awaitUnwatched,
  listPendingReasons,
  takeChanges,
  takeChangesOf,
  unwatch,
  watch,
} from './watch_queries.ts';
export type { ChangeNotes } from './watch_queries.ts';
export { takeTraitChanges, watchTraits } from './trait_watch_queries.ts';
export { AliasInput, IdentifyInput, ProfileRef, readExternalId, workOf } from './schema.ts';
export type { TraitChange } from './people.ts';
export { checkTraits } from './traits.ts';
export type { ProfileRow };
export { findProfile as findRow, listRows };

/** The identities of some identifiers, as far as there are any. */
export const listIdentities = identity.listByValues;

/** Locks every identity of a profile until the transaction ends. */
export const lockPerson = identity.holdPerson;

/** Which of the rows have an address that is on the suppression list now. */
const listSuppressed = async (scope: Scope, rows: readonly ProfileRow[]): Promise<Set<string>> => {
  const suppressed = new Set<string>();
  for (const email of new Set(rows.map((row) => row.email)))
    if (email !== null && (await suppression.isOnList(scope, email))) suppressed.add(email);
  return suppressed;
};

const toProfiles = async (scope: Scope, rows: readonly ProfileRow[]): Promise<Profile[]> => {
  const ids = rows.map(({ profile_id }) => profile_id);
  const shown = await identity.listFirst(scope, ids, IDENTIFIERS_SHOWN_MAX);
  const identitiesOf = Map.groupBy(shown, ({ profile_id }) => profile_id);
  const seen = await identity.listSeenTimes(scope, ids);
  const seenOf = new Map(seen.map((times) => [times.profile_id, times]));
  const suppressed = await listSuppressed(scope, rows);
  return rows.map((row) => {
    const identities = identitiesOf.get(row.profile_id) ?? [];
    const times = seenOf.get(row.profile_id);
    // As long as nobody has seen them by any identity, it is when we came to know of them.
    const firstSeenAt =
      times?.first_seen_at ?? timeOfId(times?.first_identity_id ?? row.profile_id);
    const lastSeenAt = times?.last_seen_at ?? timeOfId(times?.last_identity_id ?? row.profile_id);
    return {
      id: row.profile_id,
      external_id: identities.find(({ kind }) => kind === 'external')?.value ?? null,
      identifiers: identities.map(({ identity_id, kind, value, first_seen_at }) => ({
        kind,
        value,
        first_seen_at: (first_seen_at ?? timeOfId(identity_id)).toISOString(),
      })),
      email: row.email,
      traits: row.traits,
      tags: row.tags,
      suppressed: row.email !== null && suppressed.has(row.email),
      first_seen_at: firstSeenAt.toISOString(),
      last_seen_at: lastSeenAt.toISOString(),
      updated_at: row.updated_at.toISOString(),
    };
  });
};

/** How a person may be named: by the profile's id, by an identifier, or by address. */
export type Selector =
  | { by: 'id'; value: string }
  | { by: Identity['kind']; value: string }
  | { by: 'email'; value: string };

const listSelected = async (
  scope: Scope,
  { by, value }: Selector,
  page: ProfilesPage,
): Promise<readonly ProfileRow[]> => {
  if (by === 'email') return listByEmail(scope, normaliseEmail(value), page);
  const profileId =
    by === 'id' ? value : (await identity.findByValue(scope, by, value))?.profile_id;
  const row = profileId ? await findProfile(scope, profileId) : null;
  // A profile that was merged answers as the one it was merged into.
  const shown = row?.merged_into ? await findProfile(scope, row.merged_into) : row;
  const isOnPage = page.afterId === null || (shown?.profile_id ?? '') > page.afterId;
  return shown && isOnPage ? [shown] : [];
};

/** The first profiles that a selector names; one at most, except by address. */
export const listProfiles = async (scope: Scope, selector: Selector): Promise<Profile[]> =>
  toProfiles(scope, await listSelected(scope, selector, { limit: PAGE_ITEMS_MAX, afterId: null }));

/** One page of the profiles that a selector names. */
export const pageProfiles = async (
  scope: Scope,
  selector: Selector,
  { limit, cursor }: PageQuery,
): Promise<{ items: Profile[]; next_cursor: string | null }> => {
  const afterId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listSelected(scope, selector, { limit: limit + 1, afterId });
  const page = toPage(rows, limit, { item: (row) => row, position: (row) => [row.profile_id] });
  return { ...page, items: await toProfiles(scope, page.items) };
};

/** For each item of a page, so many are looked at: who was merged or is being erased is passed over. */
export const LOOKED_AT_PER_ITEM = 10;

/** One page of a project's profiles, the newest first. It may end early, where few of many are shown. */
export const pageNewest = async (
  scope: Scope,
  { limit, cursor }: PageQuery,
): Promise<{ items: Profile[]; next_cursor: string | null }> => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const most = limit * LOOKED_AT_PER_ITEM;
  const lookedAt = await lookAtNewest(scope, { limit: most, beforeId });
  const living = lookedAt.filter(({ is_shown }) => is_shown);
  const ids = living.slice(0, limit).map(({ profile_id }) => profile_id);
  const last = living.length > limit ? ids.at(-1) : lookedAt[most - 1]?.profile_id;
  const rows = await listRows(scope, ids);
  return {
    items: await toProfiles(scope, rows.toReversed()),
    next_cursor: last === undefined ? null : toCursor([last]),
  };
};

export type Name = { kind: Identity['kind']; value: string };

/** Profiles by their ids; one that was merged answers as the one it was merged into. */
const listShown = async (
  scope: Scope,
  profileIds: readonly string[],
): Promise<Map<string, string>> => {
  const rows = profileIds.length === 0 ? [] : await listRows(scope, [...new Set(profileIds)]);
  const into = rows.flatMap(({ merged_into }) => merged_into ?? []);
  const living = into.length === 0 ? [] : await listRows(scope, [...new Set(into)]);
  const ids = new Set(living.map(({ profile_id }) => profile_id));
  const shown = rows.filter(({ merged_into }) => merged_into === null || ids.has(merged_into));
  return new Map(shown.map((row) => [row.profile_id, row.merged_into ?? row.profile_id]));
};

/**
 * One identifier of each person whom each of some selectors names, by which their timelines are told of something: of
 * those with an address the first, so many of each. As many statements for all as for one.
 */
export const listNames = async (
  scope: Scope,
  selectors: readonly Extract<Selector, { by: 'id' | 'email' }>[],
  limit: number,
): Promise<Name[][]> => {
  const asked = selectors.map(({ by, value }) => ({
    by,
    value: by === 'email' ? normaliseEmail(value) : value,
  }));
  const valuesOf = (way: 'id' | 'email') =>
    asked.filter(({ by }) => by === way).map(({ value }) => value);
  const shown = await listShown(scope, valuesOf('id'));
  const addresses = [...new Set(valuesOf('email'))];
  const found = addresses.length === 0 ? [] : await listIdsByAddress(scope, addresses, limit);
  const byAddress = Map.groupBy(found, ({ address }) => address);
  const idsOf = asked.map(({ by, value }) =>
    by === 'id'
      ? [shown.get(value)].filter((id) => id !== undefined)
      : (byAddress.get(value) ?? []).map(({ profile_id }) => profile_id),
  );
  const ids = [...new Set(idsOf.flat())];
  const first = ids.length === 0 ? [] : await identity.listFirst(scope, ids, 1);
  const nameOf = new Map(first.map(({ profile_id, kind, value }) => [profile_id, { kind, value }]));
  return idsOf.map((some) => some.flatMap((id) => nameOf.get(id) ?? []));
};
