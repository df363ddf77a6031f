import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import { deleteBrowserTraits, deleteProfiles, deleteTraits } from './erase_queries.ts';

/** How many identities one transaction of the weekly job checks, and how many of them it deletes. */
export const CHECKED_PEOPLE_MAX = 400;
export const PRUNED_ANONYMOUS_MAX = 200;

/** A person of one anonymous id. */
export type Anonymous = { identity_id: string; profile_id: string; value: string };

/** Returns the identities of those of some people that a room still has something of that must stay. */
export type ListNeeded = (scope: Scope, people: readonly Anonymous[]) => Promise<Set<string>>;
/** Removes what a room has of people that no room needs. */
export type RemovePeople = (scope: Scope, people: readonly Anonymous[]) => Promise<void>;

const ProfileId = z.strictObject({ profile_id: z.uuid() });

/** Locks those of some profiles that did not change since a moment; others that are being changed are left out. */
const lockUnchanged = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  before: Date,
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(ProfileId)`
    select profile_id from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and merged_into is null and erasure_id is null
    and greatest(created_at, updated_at) < ${before.toISOString()}::timestamptz
    order by profile_id
    for update skip locked
  `);
  return new Set(rows.map(({ profile_id }) => profile_id));
};

const IdentityId = z.strictObject({ identity_id: z.uuid() });

/** Returns those of some people that have a trait of a server or of a step of an automation. */
const listTold: ListNeeded = async ({ tx, projectId }, people) => {
  const ids = people.map(({ identity_id }) => identity_id);
  const rows = await tx.any(sql.type(IdentityId)`
    select distinct identity_id from profiles.traits
    where project_id = ${projectId} and identity_id = any (${sql.array(ids, 'uuid')}) and authority = 'server'
  `);
  return new Set(rows.map(({ identity_id }) => identity_id));
};

type Pruning = {
  before: Date;
  /** By which rooms a person may be needed. */
  needs: readonly ListNeeded[];
  removals: readonly RemovePeople[];
};

const pruneLocked = async (
  scope: Scope,
  locked: readonly Anonymous[],
  { before, needs, removals }: Pruning,
): Promise<number> => {
  const unchanged = await lockUnchanged(
    scope,
    locked.map(({ profile_id }) => profile_id),
    before,
  );
  let people = locked.filter(({ profile_id }) => unchanged.has(profile_id));
  for (const listNeeded of [listTold, ...needs]) {
    if (people.length === 0) return 0;
    const needed = await listNeeded(scope, people);
    people = people.filter(({ identity_id }) => !needed.has(identity_id));
  }
  if (people.length === 0) return 0;
  const identityIds = people.map(({ identity_id }) => identity_id);
  for (const remove of removals) await remove(scope, people);
  await deleteTraits(scope, identityIds);
  await deleteBrowserTraits(scope, identityIds);
  await identity.deleteIdentities(scope, identityIds);
  await deleteProfiles(
    scope,
    people.map(({ profile_id }) => profile_id),
  );
  return people.length;
};

/**
 * Deletes the next people of one anonymous id that were not seen since a moment and that no room needs. The same id,
 * seen again, is a new person. The next job checks again what is locked meanwhile.
 */
export const pruneAnonymous = async (
  scope: Scope,
  pruning: Pruning,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const { before } = pruning;
  const page = await identity.listAnonymous(scope, { before, after, limit: CHECKED_PEOPLE_MAX });
  const unseen = page.filter(({ is_unseen }) => is_unseen).slice(0, PRUNED_ANONYMOUS_MAX);
  const locked = await identity.lockAnonymous(
    scope,
    unseen.map(({ identity_id }) => identity_id),
    before,
  );
  const pruned = await pruneLocked(scope, locked, pruning);
  if (unseen.length === PRUNED_ANONYMOUS_MAX)
    return { pruned, after: unseen.at(-1)?.identity_id ?? null };
  return {
    pruned,
    after: page.length < CHECKED_PEOPLE_MAX ? null : (page.at(-1)?.identity_id ?? null),
  };
};
