import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import * as identity from '../identity/identity.ts';
import type { LeftIdentifier, Person } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import * as quotas from '../quotas/quotas.ts';
import * as suppression from '../suppression/suppression.ts';
import { setTags } from './change_queries.ts';
import {
  changeTraits as changeTraitsQuery,
  foldProfile,
  holdByAddress,
  insertProfiles,
  seeFlushes,
} from './queries.ts';
import type { Folded, Traits } from './queries.ts';
import type { ChangeReason } from './change_reasons.ts';

/**
 * Makes the profiles of identities that were just made, and returns the people that are not being erased.
 * `erasedBefore` is what `countErased` returned before the caller read the people. If a person was erased since, the
 * transaction begins again: the events that it read may be gone. `reasonOf` says why a profile is made.
 */
export const seePeople = async (
  scope: Scope,
  people: readonly Person[],
  erasedBefore: number | null = null,
  reasonOf?: (profileId: string) => ChangeReason | null,
): Promise<Person[]> => {
  const made = people.filter((person) => person.is_new).map((person) => person.profile_id);
  // Also without new people: one may have been erased since, and made anew by another transaction.
  if (made.length > 0 || erasedBefore !== null)
    await insertProfiles(scope, made, erasedBefore, reasonOf);
  return people.filter((person) => !person.is_erasing);
};

/** Returns why the profile of each new person is made: by events that were late, or by something fresh. */
const makeReasonOf = (people: readonly Person[], left: readonly LeftIdentifier[]) => {
  const lags = new Map(left.map(({ kind, value, lag_ms }) => [`${kind}/${value}`, lag_ms]));
  const lagOf = new Map(
    people.map(({ kind, value, profile_id }) => [profile_id, lags.get(`${kind}/${value}`) ?? 0]),
  );
  return (profileId: string): ChangeReason | null => {
    const lag_ms = lagOf.get(profileId) ?? 0;
    return lag_ms > ingest.LATE_AFTER_MS ? { kind: 'made', lag_ms } : null;
  };
};

/**
 * Makes the profiles of all people whom the events of some flushes name. Counts those that are new, by
 * the publishable key that brought them. `erasedBefore` is the same as for `seePeople`.
 */
export const seeEvents = async (
  scope: Scope,
  flushIds: readonly string[],
  erasedBefore: number | null = null,
): Promise<quotas.Brought> => {
  const left = await seeFlushes(scope, flushIds);
  if (left.length === 0) return [];
  const seen = await identity.seeLeft(scope, left);
  const reasonOf = makeReasonOf(seen, left);
  const people = await seePeople(scope, seen, erasedBefore, reasonOf);
  const made = people.filter(({ is_new }) => is_new);
  return quotas.findBrought(scope, flushIds, made);
};

/**
 * The profiles that identities belong to, which stays true until the transaction ends. Whoever is gone
 * or being erased has none.
 */
export const holdProfiles = async (
  scope: Scope,
  identityIds: readonly string[],
): Promise<Map<string, string>> => {
  const held = await identity.holdLiving(scope, [...new Set(identityIds)]);
  return new Map(held.map(({ identity_id, profile_id }) => [identity_id, profile_id]));
};

export type TraitChange = {
  identityId: string;
  traits: Traits['traits'];
  /** When it became true, by the clock of whoever said it. */
  setAt: Date;
  authority: 'publishable' | 'server';
  /** Which browser asserted it, where that is known. */
  anonymousId?: string | null | undefined;
};

/** Returns what a browser is called beside what it asserted: a keyed hash, which outlives an erase unread. */
export const browserKeyOf = (
  { keys, projectId }: Pick<Scope, 'keys' | 'projectId'>,
  anonymousId: string,
): Buffer => keys.hash('browser', `${projectId} ${anonymousId}`);

/** What an address that is left alone is called on the profiles that have it. */
const tagOf = {
  hard_bounce: 'hard_bounced',
  complaint: 'complained',
  manual: 'suppressed',
  provider_suppressed: 'provider_suppressed',
  soft_bounces: 'soft_bounced',
  unsubscribed: 'unsubscribed',
} as const;

/** The tags of whoever has an address, by why it is left alone. */
export const toTags = (reasons: readonly (keyof typeof tagOf)[]): string[] =>
  reasons.map((reason) => tagOf[reason]).toSorted();

/** The tags of profiles follow from their addresses, whenever those change, or why they are left alone. */
const retag = async (
  scope: Scope,
  profiles: readonly { profile_id: string; email: string | null }[],
  reason: ChangeReason | null = null,
): Promise<void> => {
  const emails = profiles.flatMap(({ email }) => email ?? []);
  const reasons = await suppression.listReasonsOf(scope, emails);
  const tagged = profiles.map(({ profile_id, email }) => ({
    profile_id,
    tags: toTags(email === null ? [] : (reasons.get(email) ?? [])),
  }));
  for (const alike of Map.groupBy(tagged, ({ tags }) => tags.join()).values()) {
    const ids = alike.map(({ profile_id }) => profile_id);
    await setTags(scope, ids, alike[0]?.tags ?? [], reason);
  }
};

const retagFolded = async (
  scope: Scope,
  folded: readonly Folded[],
  reason: ChangeReason | null = null,
): Promise<void> => {
  const readdressed = folded.filter(({ old_email, new_email }) => old_email !== new_email);
  if (readdressed.length === 0) return;
  const people = readdressed.map(({ changed_id: profile_id, new_email: email }) => ({
    profile_id,
    email,
  }));
  await retag(scope, people, reason);
};

/**
 * Changes why addresses are left alone, and the tags of the profiles that have them with it. People are
 * locked before addresses, as everywhere.
 */
export const changeAddresses = async <T>(
  scope: Scope,
  emails: readonly string[],
  change: (scope: Scope) => Promise<T>,
): Promise<T> => {
  const holders = await holdByAddress(scope, emails.map(normaliseEmail));
  const changed = await change(scope);
  if (holders.length > 0) await retag(scope, holders);
  return changed;
};

/** Returns what a change of traits stores beside them: which browser asserted them. */
const withBrowserKey = (scope: Scope, { anonymousId, ...change }: TraitChange) => {
  const isNamed = typeof anonymousId === 'string' && change.authority === 'publishable';
  return { ...change, browserKey: isNamed ? browserKeyOf(scope, anonymousId) : null };
};

/**
 * Stores traits that were asserted about identities of different people, and folds them into their profiles, except
 * where they are being erased. Returns the identities that are full, of which nothing was stored: servers asserted as
 * much of them as one may hold.
 */
export const changeTraitsOf = async (
  scope: Scope,
  changes: readonly TraitChange[],
): Promise<Set<string>> => {
  const rows = await changeTraitsQuery(
    scope,
    changes.map((change) => withBrowserKey(scope, change)),
  );
  await retagFolded(
    scope,
    rows.filter(({ is_full: isFull }) => !isFull),
  );
  return new Set(rows.flatMap(({ identity_id, is_full }) => (is_full ? [identity_id] : [])));
};

/** Does the same for one identity. Returns whether its traits were stored, or it is being erased. */
export const changeTraits = async (scope: Scope, change: TraitChange): Promise<boolean> =>
  (await changeTraitsOf(scope, [change])).size === 0;

/** Folds a profile again, after it gained or lost an identity for a reason. */
export const refold = async (
  scope: Scope,
  profileId: string,
  reason: ChangeReason,
): Promise<void> => retagFolded(scope, [await foldProfile(scope, profileId, reason)], reason);
