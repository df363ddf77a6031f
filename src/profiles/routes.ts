import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { route } from '../base/route.ts';
import { listProfiles, listTimeline } from './profiles.ts';
import type { Entry, Selector } from './profiles.ts';
import { Profile, ProfileQuery, TimelineEntry } from './schema.ts';

const EXTERNAL_ID_PREFIX = 'external_id:';
const TimelineQuery = z.strictObject(pageQuery);
const Position = z.tuple([z.iso.datetime(), z.uuid()]);

/** `{id}` is the profile's uuid or `external_id:<value>`; anything else names nobody. */
const readSelector = (id: string): Selector => {
  if (id.startsWith(EXTERNAL_ID_PREFIX))
    return { by: 'external', value: id.slice(EXTERNAL_ID_PREFIX.length) };
  if (!z.uuid().safeParse(id).success) throw new Refusal('not_found');
  return { by: 'id', value: id };
};

const toSelector = (query: z.output<typeof ProfileQuery>): Selector => {
  if (query.external_id !== undefined) return { by: 'external', value: query.external_id };
  if (query.anonymous_id !== undefined) return { by: 'anonymous', value: query.anonymous_id };
  return { by: 'email', value: query.email ?? '' };
};

const toEntry = ({ event_id, occurred_at, received_at, ...entry }: Entry) => ({
  id: event_id,
  ...entry,
  occurred_at: occurred_at.toISOString(),
  received_at: received_at.toISOString(),
});

export const profileRoutes = [
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
    handle: ({ deps, caller, params }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const [profile] = await listProfiles(scope, readSelector(params['id'] ?? ''));
        if (!profile) throw new Refusal('not_found');
        return profile;
      }),
  }),
  route({
    method: 'GET',
    path: '/v1/profiles/:id/events',
    access: 'server',
    summary: "Read a profile's timeline, newest first.",
    query: TimelineQuery,
    status: 200,
    answer: pageOf(TimelineEntry),
    handle: ({ deps, caller, params, query }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const [profile] = await listProfiles(scope, readSelector(params['id'] ?? ''));
        if (!profile) throw new Refusal('not_found');
        const position = readCursor(Position, query.cursor);
        const before = position && { occurredAt: new Date(position[0]), eventId: position[1] };
        const entries = await listTimeline(scope, profile.id, { limit: query.limit + 1, before });
        return toPage(entries, query.limit, {
          item: toEntry,
          position: (entry) => [entry.occurred_at.toISOString(), entry.event_id],
        });
      }),
  }),
];
