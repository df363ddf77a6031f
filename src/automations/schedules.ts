import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { Refusal } from '../base/refusal.ts';
import { findVersion } from './queries.ts';
import { readClock } from './run_queries.ts';
import {
  isScheduled,
  listOccurrences,
  nextOccurrence,
  isPast,
  lastMomentOf,
  occurrenceId,
  OCCURRENCE_LATE_MAX_MS,
  OCCURRENCES_SHOWN,
  spanOf,
} from './schedule.ts';
import type { Occurrence, Scheduled } from './schedule.ts';
import { ScheduleTimes } from './schedule_schema.ts';
import {
  findNext,
  holdDueSchedule,
  holdSchedule,
  insertScheduledStart,
  moveSchedule,
  setScheduleStatus,
  upsertSchedule,
} from './schedule_queries.ts';
import type { KeptSchedule } from './schedule_queries.ts';

/** Wakes a worker for the occurrences of a project that are due. */
export const schedulesHint = (projectId: string): Hint => ({
  task: 'automations/start_scheduled',
  payload: { project_id: projectId },
});

/** Returns the moment after which a schedule begins. It includes an occurrence that is due and has no start yet. */
const beginningOf = (kept: KeptSchedule | null, now: Date, definition: Scheduled): Date => {
  // Some zones may have reached the time, and others reach it later.
  if (kept === null) return new Date(now.getTime() - spanOf(definition));
  if (kept.next_at === null || kept.next_at > now) return now;
  return new Date(Math.max(kept.next_at.getTime() - 1, now.getTime() - OCCURRENCE_LATE_MAX_MS));
};

/**
 * Has an automation follow the schedule of a version from now on. One that was paused goes on with the occurrence that
 * was next. Refuses a schedule that is over.
 */
export const followSchedule = async (
  scope: Scope,
  automationId: string,
  version: number,
  definition: Scheduled,
): Promise<void> => {
  const kept = await holdSchedule(scope, automationId);
  if (kept?.version === version) {
    await setScheduleStatus(scope, automationId, 'active');
    return;
  }
  const next = nextOccurrence(definition, beginningOf(kept, await readClock(scope), definition));
  if (next === null)
    throw new Refusal('invalid_request', {
      issues: [
        {
          path: '/definition/trigger/start',
          message:
            'the schedule has no occurrence from now on: choose a later start, or another rule',
        },
      ],
    });
  await upsertSchedule(scope, { automationId, version }, next);
};

const getScheduled = async (scope: Scope, { automation_id, version }: KeptSchedule) => {
  const definition = await findVersion(scope, automation_id, version);
  if (definition === null || !isScheduled(definition))
    throw new Error(`version ${version} of automation ${automation_id} has no schedule`);
  return definition;
};

/** The start that an occurrence made, where it made one; and whether other schedules may be due. */
export type ScheduledStarts = { startId: string | null; isMore: boolean };

/**
 * Notes the start of one occurrence that is due, and the occurrence after it, in one transaction: each occurrence has
 * one start. One that is later than OCCURRENCE_LATE_MAX_MS, in the last zone, starts no people.
 */
export const startScheduled = async (scope: Scope): Promise<ScheduledStarts> => {
  const due = await holdDueSchedule(scope);
  if (due?.occurrence == null || due.next_at === null) return { startId: null, isMore: false };
  const { automation_id: automationId, occurrence, next_at: at } = due;
  const definition = await getScheduled(scope, due);
  const startId = occurrenceId(automationId, { occurrence, at });
  const isLate = isPast(lastMomentOf(definition, occurrence), await readClock(scope));
  const { segment_id: segmentId, zone, per_hour: perHour = null } = definition.trigger;
  await insertScheduledStart(scope, {
    startId,
    automationId,
    segmentId,
    occurrence,
    at,
    zone,
    perHour,
    isLate,
  });
  await moveSchedule(scope, automationId, nextOccurrence(definition, at));
  return { startId: isLate ? null : startId, isMore: true };
};

/** Lists the next occurrences of an automation; none without a schedule. */
export const listNextOccurrences = async (scope: Scope, automationId: string) => {
  const next = await findNext(scope, automationId);
  if (!next?.next_at) return [];
  const definition = await findVersion(scope, automationId, next.version);
  return definition !== null && isScheduled(definition)
    ? listOccurrences(definition, next.next_at, OCCURRENCES_SHOWN)
    : [];
};

/** Lists the next occurrences of a definition that is not complete yet; none while its times are wrong. */
export const previewOccurrences = async (scope: Scope, given: unknown): Promise<Occurrence[]> => {
  const { success, data } = ScheduleTimes.safeParse(given);
  if (!success) return [];
  const from = (await readClock(scope)).getTime() - spanOf(data);
  return listOccurrences(data, new Date(from), OCCURRENCES_SHOWN);
};
