import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed } from '../base/route.ts';
import { listProfiles } from './profiles.ts';
import { ProfileRef, readExternalId } from './schema.ts';
import type { Profile } from './schema.ts';
import { findPerson } from './timeline_queries.ts';
import type { Person } from './timeline_queries.ts';

export const ProfileParams = z.object({ id: ProfileRef });

/** How the path names somebody, or null when it cannot name anybody. */
const readPath = (params: Addressed['params']) => {
  const { success, data } = ProfileParams.safeParse(params);
  if (!success) return null;
  const external = readExternalId(data.id);
  return external === null
    ? { by: 'id' as const, value: data.id }
    : { by: 'external' as const, value: external };
};

/** The profile that the path names, or null. */
export const findProfile = async ({ deps, caller, params }: Addressed): Promise<Profile | null> => {
  const selector = readPath(params);
  if (selector === null) return null;
  const [profile] = await inProject(deps, caller.projectId, (scope) =>
    listProfiles(scope, selector),
  );
  return profile ?? null;
};

/** No more of the profile that the path names than its timeline needs, or null. */
export const findTimelineOf = async ({
  deps,
  caller,
  params,
}: Addressed): Promise<Person | null> => {
  const selector = readPath(params);
  if (selector === null) return null;
  return inProject(deps, caller.projectId, (scope) => findPerson(scope, selector));
};
