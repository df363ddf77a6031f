import type { Scope } from '../base/db.ts';
import * as segments from '../segments/segments.ts';
import { watchDates } from './dates.ts';
import { activateVersion } from './queries.ts';
import type { Definition } from './schema.ts';
import { deleteSegmentTrigger, insertReader, upsertSegmentTrigger } from './segment_queries.ts';

const CHANGES = { segment_entered: 'entered', segment_left: 'left' } as const;

/**
 * Makes a version the one that starts runs. It starts them for entries and leaves of segments that are written after
 * the present end of their history.
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
  if (trigger.kind === 'event' || trigger.kind === 'manual') {
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
