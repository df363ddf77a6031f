import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed } from '../base/route.ts';
import { listProfiles } from './profiles.ts';
import type { Selector } from './profiles.ts';
import { ProfileRef, readExternalId } from './schema.ts';
import type { Profile } from './schema.ts';

export const ProfileParams = z.object({ id: ProfileRef });

/** The profile that the path names, or null. */
export const findProfile = async ({ deps, caller, params }: Addressed): Promise<Profile | null> => {
  const { success, data } = ProfileParams.safeParse(params);
  if (!success) return null;
  const external = readExternalId(data.id);
  const selector: Selector =
    external === null ? { by: 'id', value: data.id } : { by: 'external', value: external };
  const [profile] = await inProject(deps, caller.projectId, (scope) =>
    listProfiles(scope, selector),
  );
  return profile ?? null;
};
