import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import * as identity from '../identity/identity.ts';
import type { Identity, Person } from '../identity/identity.ts';
import type { Entry } from '../ingest/ingest.ts';
import * as suppression from '../suppression/suppression.ts';
import {
  addTagByEmail,
  findProfile,
  foldProfile,
  insertProfiles,
  listByEmail,
  listEntries,
  listRows,
  setTraits,
} from './queries.ts';
import type { Page, ProfileRow } from './queries.ts';
import type { Profile } from './schema.ts';

export type { ProfileRow };
export { findProfile as findRow, listRows };

/** Makes the profiles of identities that were just made. */
export const seePeople = async (scope: Scope, people: readonly Person[]): Promise<void> => {
  const made = people.filter((person) => person.is_new).map((person) => person.profile_id);
  if (made.length > 0) await insertProfiles(scope, made);
};

export type TraitChange = {
  identityId: string;
  traits: Parameters<typeof setTraits>[1]['traits'];
  /** When it became true, by the clock of whoever said it. */
  setAt: Date;
  authority: 'publishable' | 'server';
};

/** Keeps what an identity was told about itself and folds it into its profile. */
export const changeTraits = async (scope: Scope, change: TraitChange): Promise<void> => {
  const told = await identity.findById(scope, change.identityId);
  if (!told) return;
  await setTraits(scope, change);
  const identities = await identity.listByProfile(scope, told.profile_id);
  await foldProfile(
    scope,
    told.profile_id,
    identities.map(({ identity_id }) => identity_id),
  );
};

/** Puts a tag on every profile with the address. Putting it on twice changes nothing. */
export const tagAddress = async (scope: Scope, email: string, tag: string): Promise<void> => {
  await addTagByEmail(scope, normaliseEmail(email), tag);
};

const toProfile = async (scope: Scope, row: ProfileRow): Promise<Profile> => {
  const identities = await identity.listByProfile(scope, row.profile_id);
  const seen = (read: (known: Identity) => Date): number[] =>
    identities.map((known) => read(known).getTime());
  return {
    id: row.profile_id,
    external_id: identities.find(({ kind }) => kind === 'external')?.value ?? null,
    identifiers: identities.map(({ kind, value, first_seen_at }) => ({
      kind,
      value,
      first_seen_at: first_seen_at.toISOString(),
    })),
    email: row.email,
    traits: row.traits,
    tags: row.tags,
    suppressed: row.email !== null && (await suppression.isOnList(scope, row.email)),
    first_seen_at: new Date(Math.min(...seen(({ first_seen_at }) => first_seen_at))).toISOString(),
    last_seen_at: new Date(Math.max(...seen(({ last_seen_at }) => last_seen_at))).toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
};

/** How a person may be named: by the profile's id, by an identifier, or by address. */
export type Selector =
  | { by: 'id'; value: string }
  | { by: Identity['kind']; value: string }
  | { by: 'email'; value: string };

const listSelected = async (
  scope: Scope,
  { by, value }: Selector,
): Promise<readonly ProfileRow[]> => {
  if (by === 'email') return listByEmail(scope, normaliseEmail(value));
  const profileId =
    by === 'id' ? value : (await identity.findByValue(scope, by, value))?.profile_id;
  const row = profileId ? await findProfile(scope, profileId) : null;
  return row ? [row] : [];
};

/** The profiles a selector names; one at most, except by address. */
export const listProfiles = async (scope: Scope, selector: Selector): Promise<Profile[]> => {
  const profiles: Profile[] = [];
  for (const row of await listSelected(scope, selector)) profiles.push(await toProfile(scope, row));
  return profiles;
};

/** One page of a profile's timeline, newest first, read over the identities it has today. */
export const listTimeline = async (
  scope: Scope,
  profileId: string,
  page: Page,
): Promise<readonly Entry[]> => {
  const identities = await identity.listByProfile(scope, profileId);
  const values = (wanted: Identity['kind']) =>
    identities.filter(({ kind }) => kind === wanted).map(({ value }) => value);
  return listEntries(scope, values('external'), values('anonymous'), page);
};

/** The profile that an identity belongs to today. */
export const findProfileOf = async (scope: Scope, identityId: string): Promise<string | null> =>
  (await identity.findById(scope, identityId))?.profile_id ?? null;
