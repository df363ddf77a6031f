import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Addressed, Route } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import { addSegment, editSegment, pageRows, removeSegment } from './acts.ts';
import { todayAt } from './compile.ts';
import { preview, PREVIEW_PROFILES_MAX } from './preview.ts';
import { readRoutes } from './read_routes.ts';
import { importRoutes } from './import_routes.ts';
import type { ListUsers } from './records.ts';
import { findSegment } from './record_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { Definition } from './schema.ts';
import {
  DEFINITION_SHOWN,
  Name,
  NEW_SEGMENT_SHOWN,
  Segment,
  SHOWN_ID,
  toSegment,
  UnreadySegments,
} from './shown.ts';

const SegmentParams = z.object({ id: z.uuid().meta({ description: "The segment's id." }) });

export const NewSegment = z
  .strictObject({
    name: Name,
    definition: Definition.optional().meta({
      description: 'Left out: the segment is static, and people are imported into it.',
    }),
  })
  .meta({ id: 'NewSegment', examples: [{ name: 'New on Pro', definition: DEFINITION_SHOWN }] });

export const SegmentPatch = z
  .strictObject({
    version: z.int().min(1).meta({ description: 'The version that you read, and change.' }),
    name: Name.optional(),
    definition: Definition.optional(),
  })
  .meta({ id: 'SegmentPatch', examples: [{ version: 1, name: 'New on Pro, named' }] });

const Deleted = z
  .strictObject({ id: z.uuid(), deleted: z.literal(true) })
  .meta({ id: 'SegmentDeleted', examples: [{ id: SHOWN_ID, deleted: true }] });

export const PreviewInput = z
  .strictObject({ definition: Definition })
  .meta({ id: 'SegmentPreview', examples: [{ definition: DEFINITION_SHOWN }] });
const Previewed = z
  .strictObject({
    examined: z.int().meta({ description: 'How many people were looked at, the newest.' }),
    is_everybody: z.boolean().meta({ description: 'Whether that was all of them.' }),
    members: z.int().meta({ description: 'How many of them would be members.' }),
    sample: z.array(z.uuid()).meta({ description: 'Profile ids of some of those.' }),
    unready_segments: UnreadySegments,
  })
  .meta({
    id: 'SegmentPreviewed',
    examples: [
      {
        examined: 2,
        is_everybody: true,
        members: 1,
        sample: ['019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03'],
        unready_segments: [],
      },
    ],
  });

/** The segment that the path names, or null. */
const find = ({ deps, caller, params }: Addressed): Promise<SegmentRow | null> => {
  const named = SegmentParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findSegment(scope, named.data.id));
};

const ALL = '/v1/segments';
const ONE = '/v1/segments/:id';

const listRoutes = [
  route({
    method: 'POST',
    path: ALL,
    access: 'server',
    summary: 'Create a segment.',
    description:
      'Everybody is looked at in the background, and what the definition asks of events is counted from the past ' +
      'first; see `status`. From then on members come and go within seconds of what happens.',
    body: NewSegment,
    status: 201,
    answer: Segment,
    example: NEW_SEGMENT_SHOWN,
    refusals: ['too_many_segments'],
    handle: ({ deps, caller: { projectId }, body, repetitionId = newId() }) => {
      const { name, definition = null } = body;
      return addSegment({ deps, projectId }, { segmentId: repetitionId, name, definition });
    },
  }),
  route({
    method: 'GET',
    path: ALL,
    access: 'server',
    summary: 'List segments, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Segment),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const { items, next_cursor } = await pageRows(scope, query);
        const shown = [];
        for (const row of items) shown.push(await toSegment(scope, row));
        return { items: shown, next_cursor };
      }),
  }),
  route({
    method: 'POST',
    path: '/v1/segment-previews',
    isReading: true,
    access: 'server',
    summary: 'Ask who would be in a segment, without keeping it.',
    description:
      `Looks at the ${PREVIEW_PROFILES_MAX} newest people at most, and at fewer where the definition asks much of ` +
      'events, or what no segment asks of them yet.',
    body: PreviewInput,
    workOf: () => [{ units: UNITS.scan }],
    status: 200,
    answer: Previewed,
    handle: ({ deps, caller, body }) =>
      inProject(deps, caller.projectId, (scope) =>
        preview(scope, body.definition, todayAt(new Date())),
      ),
  }),
  route({
    method: 'GET',
    path: ONE,
    access: 'server',
    summary: 'Read one segment.',
    params: SegmentParams,
    status: 200,
    answer: Segment,
    find,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => toSegment(scope, found)),
  }),
];

const changeRoutes = (listUsers: ListUsers) => [
  route({
    method: 'PATCH',
    path: ONE,
    access: 'server',
    summary: 'Change a segment.',
    description:
      'What is left out stays. Each change is the next version, another name too. With a new definition members are ' +
      'those of the version before until everything that the new one asks is counted.',
    params: SegmentParams,
    body: SegmentPatch,
    status: 200,
    answer: Segment,
    refusals: ['segment_changed'],
    find,
    handle: ({ deps, caller: { projectId }, found, body }) =>
      editSegment({ deps, projectId }, found.segment_id, body),
  }),
  route({
    method: 'DELETE',
    path: ONE,
    access: 'server',
    summary: 'Delete a segment, with its members and its history.',
    params: SegmentParams,
    status: 200,
    answer: Deleted,
    refusals: ['segment_in_use'],
    find,
    handle: ({ deps, caller: { projectId }, found }) =>
      removeSegment({ deps, projectId }, found.segment_id, listUsers),
  }),
];

export { segmentLimits } from './limits.ts';

/** The endpoints of segments. Who else asks about one is for rooms above this one to say. */
export const segmentRoutes = (listUsers: ListUsers): readonly Route[] => [
  ...listRoutes,
  ...changeRoutes(listUsers),
  ...readRoutes(SegmentParams, find),
  ...importRoutes(SegmentParams, find),
];
