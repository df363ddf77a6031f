import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import * as identity from '../identity/identity.ts';
import type { Person } from '../identity/identity.ts';
import * as quotas from '../quotas/quotas.ts';
import * as suppression from '../suppression/suppression.ts';
import { holdByAddress, insertProfiles, seeFlushes, setTags } from './queries.ts';
import { changeTraits as changeTraitsQuery, foldProfile } from './trait_queries.ts';
import type { NewTraits, Readdressed } from './trait_queries.ts';

/**
 * Makes the profiles of identities that were just made; answers the people that are not being erased.
 * With `erasedBefore`, what `countErased` said before the caller read who there is: should somebody have
 * been erased since, the transaction begins again, for the events it read may be gone.
 */
export const seePeople = async (
  scope: Scope,
  people: readonly Person[],
  erasedBefore: number | null = null,
): Promise<Person[]> => {
  const made = people.filter((person) => person.is_new).map((person) => person.profile_id);
  // Also for nobody: somebody else may have made a person anew of whom something was left out here.
  if (made.length > 0 || erasedBefore !== null) await insertProfiles(scope, made, erasedBefore);
  return people.filter((person) => !person.is_erasing);
};

/**
 * Makes the profiles of all people whom the events of some flushes name. Counts those that are new, by
 * the publishable key that brought them. `erasedBefore` as for `seePeople`.
 */
export const seeEvents = async (
  scope: Scope,
  flushIds: readonly string[],
  erasedBefore: number | null = null,
): Promise<quotas.Brought> => {
  const left = await seeFlushes(scope, flushIds);
  if (left.length === 0) return [];
  const people = await seePeople(scope, await identity.seeLeft(scope, left), erasedBefore);
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
  traits: NewTraits['traits'];
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
): Promise<void> => {
  const emails = profiles.flatMap(({ email }) => email ?? []);
  const reasons = await suppression.listReasonsOf(scope, emails);
  const tagged = profiles.map(({ profile_id, email }) => ({
    profile_id,
    tags: toTags(email === null ? [] : (reasons.get(email) ?? [])),
  }));
  for (const alike of Map.groupBy(tagged, ({ tags }) => tags.join()).values()) {
    const ids = alike.map(({ profile_id }) => profile_id);
    await setTags(scope, ids, alike[0]?.tags ?? []);
  }
};

const retagReaddressed = async (
  scope: Scope,
  readdressed: readonly Readdressed[],
): Promise<void> => {
  if (readdressed.length === 0) return;
  await retag(
    scope,
    readdressed.map(({ changed_id, new_email }) => ({ profile_id: changed_id, email: new_email })),
  );
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

const toNewTraits = (
  scope: Scope,
  { identityId, traits, setAt, authority, anonymousId }: TraitChange,
): NewTraits => {
  const isNamed = typeof anonymousId === 'string' && authority === 'publishable';
  const browserKey = isNamed ? browserKeyOf(scope, anonymousId) : null;
  return { identityId, traits, setAt, browserKey };
};

/**
 * Keeps what identities of different people were told about themselves and folds it into their profiles, except where
 * they are being erased. Returns the identities of which nothing was kept: servers have told them as much as one may
 * hold.
 */
export const changeTraitsOf = async (
  scope: Scope,
  changes: readonly TraitChange[],
): Promise<Set<string>> => {
  const full = new Set<string>();
  for (const [authority, same] of Map.groupBy(changes, (change) => change.authority)) {
    const traits = same.map((change) => toNewTraits(scope, change));
    const rows = await changeTraitsQuery(scope, authority, traits);
    await retagReaddressed(
      scope,
      rows.flatMap((row) => (row.full_id === null ? [row] : [])),
    );
    for (const { full_id: fullId } of rows) if (fullId !== null) full.add(fullId);
  }
  return full;
};

/** The same of one identity. Returns whether it was kept. */
export const changeTraits = async (scope: Scope, change: TraitChange): Promise<boolean> =>
  (await changeTraitsOf(scope, [change])).size === 0;

/** Makes a profile what its identities were told, after one of them came or went. */
export const refold = async (scope: Scope, profileId: string): Promise<void> =>
  retagReaddressed(scope, await foldProfile(scope, profileId));
