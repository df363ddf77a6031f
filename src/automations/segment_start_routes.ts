import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Addressed } from '../base/route.ts';
import { ofAutomation } from './addressed.ts';
import { cancelSegmentStart, findEnd, segmentStartHint, startSegment } from './segment_start.ts';
import { ZONES } from './schedule_schema.ts';
import {
  findSegmentStart,
  listSegmentStarts,
  START_REASONS,
  START_STATUSES,
} from './segment_start_queries.ts';
import type { SegmentStart } from './segment_start_queries.ts';

const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';
const Timestamp = z.iso.datetime();
const Count = z.int().nonnegative();

const SHOWN = {
  id: ID,
  automation_id: ID,
  segment_id: ID,
  status: 'running' as const,
  examined: 0,
  started: 0,
  kept_out: 0,
  requested_at: NOW,
  ended_at: null,
  occurrence: null,
  occurs_at: null,
  reason: null,
  per_hour: null,
  zone: null,
  ends_at: null,
};
const Shown = z
  .strictObject({
    id: z.uuid(),
    automation_id: z.uuid(),
    segment_id: z.uuid(),
    status: z.enum(START_STATUSES),
    examined: Count.meta({ description: 'How many of its people were looked at so far.' }),
    started: Count,
    kept_out: Count.meta({
      description:
        'By `re_entry`, or because an occurrence was too late in the zone of the person.',
    }),
    requested_at: Timestamp,
    ended_at: Timestamp.nullable(),
    occurrence: z.string().nullable().meta({
      description:
        'The local time of the occurrence of a schedule that made it; null of a start by hand.',
    }),
    occurs_at: Timestamp.nullable().meta({ description: 'When that occurrence was due.' }),
    reason: z.enum(START_REASONS).nullable().meta({
      description: '`late`: the occurrence was more than an hour late, and started no people.',
    }),
    per_hour: Count.nullable().meta({
      description: 'How many people it starts in an hour at most.',
    }),
    zone: z.enum(ZONES).nullable().meta({
      description: "Whose clock the occurrence goes by: the automation's, or each person's.",
    }),
    ends_at: Timestamp.nullable().meta({
      description: 'The estimated end, by its rate and the present members.',
    }),
  })
  .meta({
    id: 'SegmentStart',
    description:
      'The start of an automation for all members of a segment, manual or by a schedule.',
    examples: [SHOWN],
  });

/** A start as the API shows it. */
const toShownStart = (row: SegmentStart, endsAt: Date | null) => ({
  id: row.start_id,
  automation_id: row.automation_id,
  segment_id: row.segment_id,
  status: row.status,
  examined: row.examined,
  started: row.started,
  kept_out: row.kept_out,
  requested_at: row.requested_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  occurrence: row.occurrence,
  occurs_at: row.occurs_at?.toISOString() ?? null,
  reason: row.reason,
  per_hour: row.per_hour,
  zone: row.zone,
  ends_at: endsAt?.toISOString() ?? null,
});

/** The same, and when it will be done where it has a rate. */
export const showStart = async (scope: Scope, row: SegmentStart) =>
  toShownStart(row, await findEnd(scope, row));

const showStarts = async (scope: Scope, rows: readonly SegmentStart[]) => {
  const ends = new Map<string, Date | null>();
  for (const row of rows) ends.set(row.start_id, await findEnd(scope, row));
  return (row: SegmentStart) => toShownStart(row, ends.get(row.start_id) ?? null);
};

/** One page of the starts of an automation, the newest first. */
export const pageStarts = async (
  scope: Scope,
  automationId: string,
  { limit, cursor }: PageQuery,
) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listSegmentStarts(scope, automationId, { limit: limit + 1, beforeId });
  return toPage(rows, limit, {
    item: await showStarts(scope, rows),
    position: ({ start_id }) => [start_id],
  });
};

const StartInput = z
  .strictObject({ segment_id: z.uuid() })
  .meta({ examples: [{ segment_id: ID }] });

const ofStarts = { ...ofAutomation, path: '/v1/automations/:id/segment-starts' } as const;

const StartParams = z.object({ id: z.uuid().meta({ description: "The start's id." }) });
const findOne = ({ deps, caller, params }: Addressed): Promise<SegmentStart | null> => {
  const named = StartParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findSegmentStart(scope, named.data.id));
};
const one = { access: 'server', params: StartParams, find: findOne } as const;

/** Starts of everybody in a segment. */
export const segmentStartRoutes = [
  route({
    ...ofStarts,
    method: 'POST',
    summary: 'Start a run for everybody in a segment by hand.',
    description:
      'For active automations whose trigger is `manual`, as often as `re_entry` allows. Its people are started in ' +
      'the background, as the segment has them when their turn comes: who is suppressed only where it says so.',
    body: StartInput,
    status: 202,
    answer: Shown,
    refusals: ['automation_state'],
    handle: async ({ deps, caller: { projectId }, found, body, repetitionId = newId() }) => {
      const asked = { startId: repetitionId, segmentId: body.segment_id };
      const shown = await inProject(deps, projectId, async (scope) =>
        showStart(scope, await startSegment(scope, found, asked)),
      );
      await hint(deps, segmentStartHint(projectId, shown.id));
      return shown;
    },
  }),
  route({
    ...ofStarts,
    method: 'GET',
    summary: 'The starts of an automation for everybody in a segment, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Shown),
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageStarts(scope, found.automation_id, query)),
  }),
  route({
    ...one,
    method: 'GET',
    path: '/v1/segment-starts/:id',
    summary: 'How far a start has come.',
    status: 200,
    answer: Shown,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => showStart(scope, found)),
  }),
  route({
    ...one,
    method: 'POST',
    path: '/v1/segment-starts/:id/cancel',
    summary: 'Stop starting people.',
    description: 'Who was started goes on.',
    body: NothingNeeded,
    isBodyOptional: true,
    status: 200,
    answer: Shown,
    example: { ...SHOWN, status: 'cancelled', ended_at: NOW },
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        showStart(scope, await cancelSegmentStart(scope, found.start_id)),
      ),
  }),
];
