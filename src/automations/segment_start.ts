import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { Refusal } from '../base/refusal.ts';
import * as segments from '../segments/segments.ts';
import { letIn } from './entering.ts';
import { findAutomation, findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import { findSubjects } from './segment_entries.ts';
import {
  endSegmentStart,
  findSegmentStart,
  holdSegmentStart,
  insertSegmentStart,
  isCrowded,
  moveSegmentStart,
} from './segment_start_queries.ts';
import type { SegmentStart } from './segment_start_queries.ts';
import { requireUndeleted } from './start.ts';

/** How many people of a segment one transaction starts. */
export const START_PEOPLE_MAX = 500;
/** A start waits while so many runs of its project are due, so that it never outruns their walk. */
export const START_DUE_RUNS_MAX = 5_000;

/** Wakes a worker for the start of everybody in a segment. */
export const segmentStartHint = (projectId: string, startId: string): Hint => ({
  task: 'automations/start_segment',
  payload: { project_id: projectId, start_id: startId },
});

const getStart = async (scope: Scope, startId: string): Promise<SegmentStart> => {
  const start = await findSegmentStart(scope, startId);
  if (start === null) throw new Refusal('not_found');
  return start;
};

/** Has everybody in a segment started, piece by piece. The same again, with the same id, is the same start. */
export const startSegment = async (
  scope: Scope,
  kept: Kept,
  { startId, segmentId }: { startId: string; segmentId: string },
): Promise<SegmentStart> => {
  const known = await findSegmentStart(scope, startId);
  if (known) return known;
  const { automation_id: automationId, active_version: version } = kept;
  const definition = version === null ? null : await findVersion(scope, automationId, version);
  if (kept.status !== 'active' || definition?.trigger.kind !== 'manual')
    throw new Refusal('automation_state', {
      detail: 'Only an active automation whose trigger is manual can be started by hand.',
    });
  if (!(await segments.holdSegments(scope, [segmentId])).has(segmentId))
    throw new Refusal('invalid_request', {
      issues: [{ path: '/segment_id', message: 'there is no such segment' }],
    });
  await requireUndeleted(scope, automationId);
  await insertSegmentStart(scope, { startId, automationId, segmentId });
  return getStart(scope, startId);
};

/** Starts nobody more; who was started goes on. What is done stays done. */
export const cancelSegmentStart = async (scope: Scope, startId: string): Promise<SegmentStart> => {
  await endSegmentStart(scope, startId, 'cancelled');
  return getStart(scope, startId);
};

type Active = { version: number; definition: NonNullable<Awaited<ReturnType<typeof findVersion>>> };

/** What whoever is started now follows; null when nobody may be started any more, or not just now. */
const findActive = async (scope: Scope, kept: Kept | null): Promise<Active | null> => {
  if (kept?.status !== 'active' || kept.active_version === null) return null;
  const definition = await findVersion(scope, kept.automation_id, kept.active_version);
  return definition?.trigger.kind === 'manual'
    ? { version: kept.active_version, definition }
    : null;
};

export type SegmentStarted = { started: number; isMore: boolean };
const NOTHING: SegmentStarted = { started: 0, isMore: false };

/**
 * Starts the next people of a segment, in the order of their ids, as often as the settings allow. It waits while the
 * automation is paused, and while START_DUE_RUNS_MAX runs are due: the sweeper wakes it again. An automation that can
 * no longer be started by hand ends it.
 */
export const startNextPeople = async (
  scope: Scope,
  startId: string,
  peopleMax = START_PEOPLE_MAX,
): Promise<SegmentStarted> => {
  const start = await holdSegmentStart(scope, startId);
  if (start?.status !== 'running') return NOTHING;
  const { automation_id: automationId, segment_id: segmentId, walked_to: afterId } = start;
  const kept = await findAutomation(scope, automationId);
  const active = await findActive(scope, kept);
  if (active === null) {
    if (kept?.status !== 'paused') await endSegmentStart(scope, startId, 'cancelled');
    return NOTHING;
  }
  if (await isCrowded(scope, START_DUE_RUNS_MAX)) return NOTHING;
  const page = await segments.listMembers(scope, segmentId, { limit: peopleMax, afterId });
  const profileIds = page.map(({ profile_id }) => profile_id);
  const subjects = await findSubjects(scope, profileIds);
  const started = await letIn(
    scope,
    [...subjects].map(([profileId, { identityId }]) => ({
      automationId,
      ...active,
      identityId,
      profileId,
      by: { kind: 'hand', startId },
    })),
  );
  const walkedTo = profileIds.at(-1) ?? afterId;
  await moveSegmentStart(scope, startId, {
    examined: profileIds.length,
    started: started.length,
    walkedTo,
  });
  const isMore = profileIds.length === peopleMax;
  if (!isMore) await endSegmentStart(scope, startId, 'done');
  return { started: started.length, isMore };
};
