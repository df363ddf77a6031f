import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { Moment } from '../base/moment.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Addressed } from '../base/route.ts';
import { identityRoutes } from './identity_routes.ts';
import { listProfiles } from './profiles.ts';
import type { Selector } from './profiles.ts';
import { Profile, ProfileQuery, TimelineEntry } from './schema.ts';
import { pageTimeline } from './timeline.ts';

const EXTERNAL_ID_PREFIX = 'external_id:';
const TimelineQuery = z.strictObject({
  ...pageQuery,
  event: z.string().min(1).optional(),
  after: Moment.optional(),
  before: Moment.optional(),
});

/** `{id}` is the profile's uuid or `external_id:<value>`; anything else names nobody. */
const readSelector = (id: string): Selector | null => {
  if (id.startsWith(EXTERNAL_ID_PREFIX))
    return { by: 'external', value: id.slice(EXTERNAL_ID_PREFIX.length) };
  return z.uuid().safeParse(id).success ? { by: 'id', value: id } : null;
};

/** The profile that the path names, or null. */
const findProfile = async ({ deps, caller, params }: Addressed): Promise<Profile | null> => {
  const selector = readSelector(params['id'] ?? '');
  if (!selector) return null;
  const [profile] = await inProject(deps, caller.projectId, (scope) =>
    listProfiles(scope, selector),
  );
  return profile ?? null;
};

const toSelector = (query: z.output<typeof ProfileQuery>): Selector => {
  if (query.external_id !== undefined) return { by: 'external', value: query.external_id };
  if (query.anonymous_id !== undefined) return { by: 'anonymous', value: query.anonymous_id };
  return { by: 'email', value: query.email ?? '' };
};

export const profileRoutes = [
  ...identityRoutes,
  route({
    method: 'GET',
    path: '/v1/profiles',
    access: 'server',
    summary: 'Find profiles by one identifier or by address.',
    query: ProfileQuery,
    status: 200,
    answer: pageOf(Profile),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, async (scope) => ({
        items: await listProfiles(scope, toSelector(query)),
        next_cursor: null,
      })),
  }),
  route({
    method: 'GET',
    path: '/v1/profiles/:id',
    access: 'server',
    summary: 'Read one profile.',
    status: 200,
    answer: Profile,
    find: findProfile,
    handle: ({ found }) => Promise.resolve(found),
  }),
  route({
    method: 'GET',
    path: '/v1/profiles/:id/events',
    access: 'server',
    summary: "Read a profile's timeline, newest first.",
    query: TimelineQuery,
    status: 200,
    answer: pageOf(TimelineEntry),
    find: findProfile,
    handle: ({ deps, caller, query, found: profile }) =>
      inProject(deps, caller.projectId, (scope) => pageTimeline(scope, profile.id, query)),
  }),
];
