import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import { gather, toLink } from './link.ts';
import type { OnLinked } from './link.ts';
import { listProfiles, unlinkPeople } from './profiles.ts';
import type { Link, Profile } from './schema.ts';

/** A link that was undone, the link that is active again because of it, and the people on either side by now. */
export type Undone = { link: Link; restored: Link | null; profiles: Profile[] };

/** Who is on either side of a link by now; nobody, where that person is erased, or is being. */
export const listSides = (scope: Scope, { profile_id, anonymous_profile_id }: LinkRow) =>
  Promise.all(
    [...new Set([profile_id, anonymous_profile_id])].map((value) =>
      listProfiles(scope, { by: 'id', value }),
    ),
  );

/** The browser's link that an undone link had replaced, as long as it is active again. */
export const findRestored = async (scope: Scope, row: LinkRow): Promise<Link | null> => {
  if (row.status !== 'undone' || row.replaces === null) return null;
  const replaced = await identity.findLink(scope, row.replaces);
  return replaced?.status === 'active' ? toLink(replaced) : null;
};

type Asked = { projectId: string; linkId: string; by: string; onLinked: OnLinked };

/** Undoes a link, and wakes runs that wait for what a restored link brings. Returns null when there is no such link. */
export const undo = async (
  deps: Deps,
  { projectId, linkId, by, onLinked }: Asked,
): Promise<Undone | null> => {
  const { hints, afterLink } = gather(onLinked);
  const undone = await inProject(deps, projectId, async (scope) => {
    const row = await unlinkPeople(scope, linkId, by, afterLink);
    if (!row) return null;
    const restored = await findRestored(scope, row);
    return { link: toLink(row), restored, profiles: (await listSides(scope, row)).flat() };
  });
  await giveHints(deps, hints);
  return undone;
};
