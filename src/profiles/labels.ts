import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import { listRows } from './queries.ts';

/** What a person is called in a list: by what the customer calls them, or by their address. */
export type Label = { profile_id: string; external_id: string | null; email: string | null };

/** What some people are called, by their profiles' ids. Whoever is being erased is not in it. */
export const labelProfiles = async (
  scope: Scope,
  profileIds: readonly string[],
): Promise<Map<string, Label>> => {
  const wanted = [...new Set(profileIds)];
  if (wanted.length === 0) return new Map();
  const names = new Map(
    (await identity.listNamesOf(scope, wanted)).map(({ profile_id, value }) => [profile_id, value]),
  );
  const rows = await listRows(scope, wanted);
  return new Map(
    rows.map(({ profile_id, email }) => [
      profile_id,
      { profile_id, external_id: names.get(profile_id) ?? null, email },
    ]),
  );
};

/** The same by their identities' ids. */
export const labelIdentities = async (
  scope: Scope,
  identityIds: readonly string[],
): Promise<Map<string, Label>> => {
  const known = await identity.listByIds(scope, [...new Set(identityIds)]);
  const labels = await labelProfiles(
    scope,
    known.map(({ profile_id }) => profile_id),
  );
  return new Map(
    known.flatMap(({ identity_id, profile_id }) => {
      const label = labels.get(profile_id);
      return label ? [[identity_id, label] as const] : [];
    }),
  );
};
