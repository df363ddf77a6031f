import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { findById, findByValue, listByProfile, seeIdentifiers } from './queries.ts';
import type { Identity, Person, SeenIdentifier } from './queries.ts';

export { findById, findByValue, listByProfile };
export type { Identity, Person };

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
