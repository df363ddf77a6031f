import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { listInput } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { listProfiles, pageNewest } from './profiles.ts';
import { listOrigins } from './provenance.ts';
import { searchProfiles } from './search.ts';
import { pageTimeline } from './timeline.ts';

export { linkProcedures } from './link_admin.ts';

const QUERY_CHARS_MAX = 255;

const Query = z.object({
  query: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(QUERY_CHARS_MAX, `at most ${QUERY_CHARS_MAX} characters`)
    .refine(isStorable, NOT_STORABLE),
});
const OfProfile = z.object({ profileId: z.uuid() });

export const profileProcedures = router({
  /** Whoever a text names: by profile id, external id, anonymous id or address. */
  find: projectProcedure.input(Query).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => ({
      items: await searchProfiles(scope, input.query),
    })),
  ),

  /** Everybody, the newest first. */
  newest: projectProcedure
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageNewest(scope, input)),
    ),

  read: projectProcedure.input(OfProfile).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const [profile] = await listProfiles(scope, { by: 'id', value: input.profileId });
      if (!profile) throw new Refusal('not_found', { detail: 'There is no such profile.' });
      return profile;
    }),
  ),

  /** The traits of a profile, each with who was told it, by what and when, and what it overrides. */
  origins: projectProcedure.input(OfProfile).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const [profile] = await listProfiles(scope, { by: 'id', value: input.profileId });
      return { items: profile ? await listOrigins(scope, profile.id) : [] };
    }),
  ),

  /** A profile's events, newest first by when they occurred. */
  timeline: projectProcedure
    .input(OfProfile)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageTimeline(scope, input.profileId, input)),
    ),
});
