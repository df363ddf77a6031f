import type { Scope } from '../base/db.ts';
import type { LinkRow } from '../identity/identity.ts';
import { toLink } from './link.ts';
import { listProfiles, unlinkPeople } from './profiles.ts';
import type { Link, Profile } from './schema.ts';

/** A link that was undone, and who is on either side of it by now. */
export type Undone = { link: Link; profiles: Profile[] };

/** Who is on either side of a link by now; nobody, where that person is erased, or is being. */
export const listSides = (scope: Scope, { profile_id, anonymous_profile_id }: LinkRow) =>
  Promise.all(
    [...new Set([profile_id, anonymous_profile_id])].map((value) =>
      listProfiles(scope, { by: 'id', value }),
    ),
  );

/** Undoes a link, and answers with it and both people; null when there is no such link. */
export const undo = async (scope: Scope, linkId: string, by: string): Promise<Undone | null> => {
  const row = await unlinkPeople(scope, linkId, by);
  return row && { link: toLink(row), profiles: (await listSides(scope, row)).flat() };
};
