import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { route } from '../base/route.ts';
import type { Addressed } from '../base/route.ts';
import * as profiles from '../profiles/profiles.ts';
import { explainPerson, pageHistory, pageMembers } from './acts.ts';
import type { SegmentRow } from './record_queries.ts';
import { Change, DEFINITION_SHOWN, Member, SHOWN_ID, UnreadySegments } from './shown.ts';

const SHOWN_PROFILE_ID = '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03';

const [TRAIT_SHOWN, EVENT_SHOWN] = DEFINITION_SHOWN.where.of;

const Explanation = z
  .strictObject({
    profile_id: z.uuid(),
    is_member: z.boolean().meta({ description: 'By what is known of the person now.' }),
    is_excluded: z.boolean().meta({
      description: 'Whether they are left out only because their address is suppressed.',
    }),
    is_counted: z.boolean().meta({
      description: 'False as long as what is asked of events is not counted to its end.',
    }),
    unready_segments: UnreadySegments,
    where: z.unknown().meta({
      description:
        'The conditions of the definition as a tree: `kind`, `holds`, and `of`, those inside; at its leaves ' +
        '`condition`, the `value` that it was asked of, and the newest `events` that were counted.',
    }),
  })
  .meta({
    id: 'SegmentExplanation',
    examples: [
      {
        profile_id: SHOWN_PROFILE_ID,
        is_member: true,
        is_excluded: false,
        is_counted: true,
        unready_segments: [],
        where: {
          kind: 'all',
          holds: true,
          of: [
            { kind: 'trait', holds: true, condition: TRAIT_SHOWN, value: 'Ann' },
            {
              kind: 'event',
              holds: true,
              condition: EVENT_SHOWN,
              value: 1,
              events: [{ event_id: SHOWN_ID, occurred_at: '2026-01-31T12:00:00.000Z' }],
            },
          ],
        },
      },
    ],
  });

/** Whom the query names, or a refusal. */
const getProfileId = async (scope: Scope, named: string): Promise<string> => {
  const external = profiles.readExternalId(named);
  const selector =
    external === null
      ? { by: 'id' as const, value: named }
      : { by: 'external' as const, value: external };
  const [profile] = await profiles.listProfiles(scope, selector);
  if (!profile) throw new Refusal('not_found');
  return profile.id;
};

type Find = (addressed: Addressed) => Promise<SegmentRow | null>;

const explainRoute = (params: z.ZodObject, find: Find) =>
  route({
    method: 'GET',
    path: '/v1/segments/:id/explain',
    access: 'server',
    summary: 'Why somebody is in a segment, or is not.',
    params,
    query: z.strictObject({
      profile: profiles.ProfileRef.meta({
        description: "The profile's id, or `external_id:<your id>`.",
        examples: ['external_id:ann'],
      }),
    }),
    status: 200,
    answer: Explanation,
    find,
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, async (scope) =>
        explainPerson(scope, found, await getProfileId(scope, query.profile)),
      ),
  });

/** The endpoints that read what follows from a segment. */
export const readRoutes = (params: z.ZodObject, find: Find) => [
  route({
    method: 'GET',
    path: '/v1/segments/:id/members',
    access: 'server',
    summary: 'List the members of a segment.',
    description:
      'In the order of their profile ids. Whoever is being erased is not listed any more.',
    params,
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Member),
    find,
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageMembers(scope, found.segment_id, query)),
  }),
  route({
    method: 'GET',
    path: '/v1/segments/:id/history',
    access: 'server',
    summary: 'List who entered and left a segment, the last first.',
    description:
      'As far back as the timeline reaches; of times before it only when each person last entered, and last left.',
    params,
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Change),
    find,
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageHistory(scope, found.segment_id, query)),
  }),
  explainRoute(params, find),
];
