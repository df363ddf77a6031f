import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EMAIL_CHARS_MAX, LOCAL_PART_CHARS_MAX } from '../base/email_address.ts';
import { Moment } from '../base/moment.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import { findProfile, findTimelineOf, ProfileParams } from './find_profile.ts';
import { linkLimits } from './link.ts';
import type { OnLinked } from './link.ts';
import { identityRoutes } from './identity_routes.ts';
import { personLimits } from './person_routes.ts';
import { pageProfiles } from './profiles.ts';
import type { Selector } from './profiles.ts';
import { Profile, ProfileQuery, TimelineEntry } from './schema.ts';
import { pageOfPerson } from './timeline.ts';
import {
  TRAIT_DEPTH_MAX,
  TRAIT_KEY_CHARS_MAX,
  TRAIT_KEYS_MAX,
  TRAITS_BYTES_MAX,
} from './traits.ts';
import { undoPreviewLimits } from './undo_preview.ts';
import type { ListRuns } from './undo_preview.ts';

const TimelineQuery = z.strictObject({
  ...pageQuery,
  event: z.string().min(1).optional().meta({ description: 'Only events of this name.' }),
  after: Moment.optional().meta({ description: 'Only what occurred later than this moment.' }),
  before: Moment.optional().meta({ description: 'Only what occurred earlier than this moment.' }),
});

const toSelector = (query: z.output<typeof ProfileQuery>): Selector => {
  if (query.external_id !== undefined) return { by: 'external', value: query.external_id };
  if (query.anonymous_id !== undefined) return { by: 'anonymous', value: query.anonymous_id };
  return { by: 'email', value: query.email ?? '' };
};

/** What a link means to others is handed in, and which runs there are. */
export const profileRoutes = (onLinked: OnLinked, listRuns: ListRuns) => [
  ...identityRoutes(onLinked, listRuns),
  route({
    method: 'GET',
    path: '/v1/profiles',
    access: 'server',
    summary: 'Find profiles by one identifier or by address.',
    description: 'An identifier finds one profile or none. Several people may share an address.',
    query: ProfileQuery,
    status: 200,
    answer: pageOf(Profile),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageProfiles(scope, toSelector(query), query)),
  }),
  route({
    method: 'GET',
    path: '/v1/profiles/:id',
    access: 'server',
    summary: 'Read one profile.',
    params: ProfileParams,
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
    description:
      'Everything that happened to the person under any of their identifiers. Pages neither skip nor repeat ' +
      'entries while events arrive. With `event`, a page may hold fewer entries than asked for, or none, and still ' +
      'have a next: only `next_cursor` says which is the last.',
    params: ProfileParams,
    query: TimelineQuery,
    status: 200,
    answer: pageOf(TimelineEntry),
    find: findTimelineOf,
    handle: ({ deps, caller, query, found: person }) =>
      inProject(deps, caller.projectId, (scope) => pageOfPerson(scope, person, query)),
  }),
];

export { personRoutes } from './person_routes.ts';

export const profileLimits: readonly Limit[] = [
  ...personLimits,
  { name: 'Traits in a request', value: TRAIT_KEYS_MAX, unit: 'items', where: '`traits`' },
  {
    name: 'Traits of a person that servers told; and as many, apart, that pages told',
    value: TRAIT_KEYS_MAX,
    unit: 'items',
    where: '`traits`',
  },
  {
    name: 'Those traits as JSON, each of the two kinds',
    value: TRAITS_BYTES_MAX,
    unit: 'bytes',
    where: '`traits`',
  },
  { name: 'A name in traits', value: TRAIT_KEY_CHARS_MAX, unit: 'characters', where: '`traits`' },
  { name: 'Traits as JSON', value: TRAITS_BYTES_MAX, unit: 'bytes', where: '`traits`' },
  { name: 'Nesting of traits', value: TRAIT_DEPTH_MAX, unit: 'levels', where: '`traits`' },
  { name: 'E-mail address', value: EMAIL_CHARS_MAX, unit: 'characters', where: '`email`' },
  {
    name: 'What stands before the @',
    value: LOCAL_PART_CHARS_MAX,
    unit: 'characters',
    where: '`email`',
  },
  ...linkLimits,
  ...undoPreviewLimits,
];
