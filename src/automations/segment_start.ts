import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { Refusal } from '../base/refusal.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { atLocalTime, firstZone } from './clock.ts';
import { letIn } from './entering.ts';
import { findAutomation, findVersion } from './queries.ts';
import { readClock } from './run_queries.ts';
import type { Kept } from './queries.ts';
import { isPast } from './schedule.ts';
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
import { insertRefusals } from './trigger_queries.ts';

/** How many people of a segment one transaction starts. */
export const START_PEOPLE_MAX = 500;
/** A start waits while so many runs of its project are due, so that it never outruns their walk. */
export const START_DUE_RUNS_MAX = 5_000;

const HOUR_MS = 3_600_000;
/** A start with a rate goes in pieces of a minute, so that its people come evenly. */
const PIECES_PER_HOUR = 60;
/** How much of the time that a piece came too late the next ones catch up: what a busy worker takes to come by. */
const CATCH_UP_MS = 5_000;

/** How many people the next piece of a start may have. */
const pieceOf = ({ per_hour: perHour }: SegmentStart, peopleMax: number): number =>
  perHour === null
    ? peopleMax
    : Math.min(peopleMax, Math.max(1, Math.floor(perHour / PIECES_PER_HOUR)));

/** Returns when a start with a rate may continue, after it started some people. */
const dueAfter = (
  { per_hour: perHour, due_at: dueAt }: SegmentStart,
  now: Date,
  started: number,
): Date | null => {
  if (perHour === null) return null;
  const since = Math.max((dueAt ?? now).getTime(), now.getTime() - CATCH_UP_MS);
  return new Date(since + Math.ceil((started * HOUR_MS) / perHour));
};

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
const findActive = async (
  scope: Scope,
  { occurrence }: SegmentStart,
  kept: Kept | null,
): Promise<Active | null> => {
  if (kept?.status !== 'active' || kept.active_version === null) return null;
  const definition = await findVersion(scope, kept.automation_id, kept.active_version);
  return definition?.trigger.kind === (occurrence === null ? 'manual' : 'schedule')
    ? { version: kept.active_version, definition }
    : null;
};

export type SegmentStarted = { started: number; isMore: boolean };
const NOTHING: SegmentStarted = { started: 0, isMore: false };

/** Returns whether a start includes a member: an occurrence includes people who were members when it began. */
const isAskedFor = (
  { occurrence, requested_at: begunAt }: SegmentStart,
  enteredAt: Date,
): boolean => occurrence === null || enteredAt <= begunAt;

/** Records that an occurrence left people out, because their own time was too long ago. */
const leaveOut = (
  scope: Scope,
  { automation_id, start_id: event_id }: SegmentStart,
  late: readonly { identityId: string; at: Date }[],
): Promise<void> =>
  insertRefusals(
    scope,
    late.map(({ identityId: identity_id, at: event_at }) => ({
      automation_id,
      identity_id,
      reason: 'late',
      event_id,
      entry: null,
      event_at,
    })),
  );

/** Returns when each person starts; an empty map if the occurrence is one moment for all. */
const readMoments = async (
  scope: Scope,
  { occurrence, zone }: SegmentStart,
  { settings }: Active['definition'],
  profileIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> => {
  if (occurrence === null || zone !== 'person') return new Map();
  const zones = await profiles.listZones(scope, profileIds);
  return new Map(
    profileIds.map((id) => [
      id,
      atLocalTime(occurrence, firstZone(zones.get(id), settings.timezone)),
    ]),
  );
};

type StartOf = { start: SegmentStart; active: Active; now: Date };

/** Starts some people, as often as the settings allow. Returns how many. */
const startPeople = async (
  scope: Scope,
  { start, active, now }: StartOf,
  profileIds: readonly string[],
): Promise<number> => {
  const subjects = await findSubjects(scope, profileIds);
  const momentOf = await readMoments(scope, start, active.definition, [...subjects.keys()]);
  const asked = [...subjects].map(([profileId, { identityId }]) => ({
    profileId,
    identityId,
    at: momentOf.get(profileId),
  }));
  const late = asked.flatMap(({ identityId, at }) =>
    at !== undefined && isPast(at, now) ? [{ identityId, at }] : [],
  );
  await leaveOut(scope, start, late);
  const started = await letIn(
    scope,
    asked
      .filter(({ at }) => at === undefined || !isPast(at, now))
      .map(({ profileId, identityId, at }) => ({
        automationId: start.automation_id,
        ...active,
        identityId,
        profileId,
        by: { kind: 'hand', startId: start.start_id, beginsAt: at },
      })),
  );
  return started.length;
};

/**
 * Starts the next people of a segment, in the order of their ids, as often as the settings allow. It waits while the
 * automation is paused, until its rate lets it start more, and while START_DUE_RUNS_MAX runs are due: the sweeper
 * wakes it again. An automation that can no longer be started by hand, or by a schedule, ends it.
 */
export const startNextPeople = async (
  scope: Scope,
  startId: string,
  peopleMax = START_PEOPLE_MAX,
): Promise<SegmentStarted> => {
  const start = await holdSegmentStart(scope, startId);
  if (start?.status !== 'running') return NOTHING;
  const now = await readClock(scope);
  if (start.due_at !== null && start.due_at > now) return NOTHING;
  const { automation_id: automationId, segment_id: segmentId, walked_to: afterId } = start;
  const kept = await findAutomation(scope, automationId);
  const active = await findActive(scope, start, kept);
  if (active === null) {
    if (kept?.status !== 'paused') await endSegmentStart(scope, startId, 'cancelled');
    return NOTHING;
  }
  if (await isCrowded(scope, START_DUE_RUNS_MAX)) return NOTHING;
  const limit = pieceOf(start, peopleMax);
  const page = await segments.listMembers(scope, segmentId, { limit, afterId });
  const people = page.filter(({ entered_at }) => isAskedFor(start, entered_at));
  const started = await startPeople(
    scope,
    { start, active, now },
    people.map(({ profile_id }) => profile_id),
  );
  const dueAt = dueAfter(start, now, started);
  await moveSegmentStart(scope, startId, {
    examined: people.length,
    started,
    walkedTo: page.at(-1)?.profile_id ?? afterId,
    dueAt,
  });
  const isMore = page.length === limit;
  if (!isMore) await endSegmentStart(scope, startId, 'done');
  return { started, isMore: isMore && (dueAt === null || dueAt <= now) };
};

/** Returns the estimated end of a start with a rate, by the present members; null without a rate. */
export const findEnd = async (scope: Scope, start: SegmentStart): Promise<Date | null> => {
  const { per_hour: perHour, status, segment_id: segmentId, walked_to: afterId } = start;
  if (perHour === null || status !== 'running') return null;
  const left = await segments.countMembers(scope, segmentId, afterId);
  const since = start.due_at ?? start.requested_at;
  return new Date(since.getTime() + Math.ceil((Math.max(0, left - 1) * HOUR_MS) / perHour));
};
