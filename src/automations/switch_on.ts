import type { Scope } from '../base/db.ts';
import * as segments from '../segments/segments.ts';
import { watchDates } from './dates.ts';
import { activateVersion } from './queries.ts';
import type { Definition } from './schema.ts';
import { isScheduled } from './schedule.ts';
import { deleteSchedule } from './schedule_queries.ts';
import { followSchedule } from './schedules.ts';
import { deleteSegmentTrigger, insertReader, upsertSegmentTrigger } from './segment_queries.ts';

const CHANGES = { segment_entered: 'entered', segment_left: 'left' } as const;

/**
 * Makes a version the one that starts runs. It starts them for entries and leaves of segments that are written after
 * the present end of their history, and for occurrences of a schedule from now on.
 */
export const switchOn = async (
  scope: Scope,
  automationId: string,
  version: number,
  definition: Definition,
): Promise<void> => {
  const { trigger } = definition;
  await watchDates(scope, definition);
  await activateVersion(scope, automationId, version, trigger);
  if (isScheduled(definition)) await followSchedule(scope, automationId, version, definition);
  else await deleteSchedule(scope, automationId);
  if (trigger.kind !== 'segment_entered' && trigger.kind !== 'segment_left') {
    await deleteSegmentTrigger(scope, automationId);
    return;
  }
  await insertReader(scope);
  await upsertSegmentTrigger(scope, {
    automationId,
    version,
    segmentId: trigger.segment_id,
    change: CHANGES[trigger.kind],
    afterEntry: await segments.readLastEntry(scope),
  });
};
