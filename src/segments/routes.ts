import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Addressed, Route } from '../base/route.ts';
import { todayAt } from './compile.ts';
import { preview, PREVIEW_PROFILES_MAX } from './preview.ts';
import { readRoutes } from './read_routes.ts';
import { importRoutes } from './import_routes.ts';
import { changeSegment, createSegment, deleteSegment } from './records.ts';
import type { ListUsers } from './records.ts';
import { findSegment, listSegments } from './record_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { Definition } from './schema.ts';
import { refreshHint } from './segments.ts';
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

const NewSegment = z
  .strictObject({
    name: Name,
    definition: Definition.optional().meta({
      description: 'Left out: the segment is static, and people are imported into it.',
    }),
  })
  .meta({ id: 'NewSegment', examples: [{ name: 'New on Pro', definition: DEFINITION_SHOWN }] });

const SegmentPatch = z
  .strictObject({
    version: z.int().min(1).meta({ description: 'The version that you read, and change.' }),
    name: Name.optional(),
    definition: Definition.optional(),
  })
  .meta({ id: 'SegmentPatch', examples: [{ version: 1, name: 'New on Pro, named' }] });

const Deleted = z
  .strictObject({ id: z.uuid(), deleted: z.literal(true) })
  .meta({ id: 'SegmentDeleted', examples: [{ id: SHOWN_ID, deleted: true }] });

const PreviewInput = z
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
    handle: async ({ deps, caller: { projectId }, body, repetitionId = newId() }) => {
      const { name, definition = null } = body;
      const wanted = { segmentId: repetitionId, name, definition };
      const made = await inProject(deps, projectId, async (scope) =>
        toSegment(scope, await createSegment(scope, wanted)),
      );
      await hint(deps, refreshHint(projectId));
      return made;
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
    handle: ({ deps, caller, query }) => {
      const beforeId = readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null;
      return inProject(deps, caller.projectId, async (scope) => {
        const rows = await listSegments(scope, { limit: query.limit + 1, beforeId });
        const { items, next_cursor } = toPage(rows, query.limit, {
          item: (row) => row,
          position: ({ segment_id }) => [segment_id],
        });
        const shown = [];
        for (const row of items) shown.push(await toSegment(scope, row));
        return { items: shown, next_cursor };
      });
    },
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
      'What is left out stays. A definition becomes the next version; members are those of the version before ' +
      'until everything that the new one asks is counted.',
    params: SegmentParams,
    body: SegmentPatch,
    status: 200,
    answer: Segment,
    refusals: ['segment_changed'],
    find,
    handle: async ({ deps, caller: { projectId }, found, body }) => {
      const changed = await inProject(deps, projectId, async (scope) =>
        toSegment(scope, await changeSegment(scope, found.segment_id, body)),
      );
      await hint(deps, refreshHint(projectId));
      return changed;
    },
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
    handle: async ({ deps, caller: { projectId }, found }) => {
      const { segment_id: id } = found;
      await inProject(deps, projectId, (scope) => deleteSegment(scope, id, listUsers));
      await hint(deps, refreshHint(projectId));
      return { id, deleted: true };
    },
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
