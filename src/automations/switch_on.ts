import type { Scope } from '../base/db.ts';
import * as segments from '../segments/segments.ts';
import { activateVersion } from './queries.ts';
import type { Definition } from './schema.ts';
import { deleteSegmentTrigger, insertReader, upsertSegmentTrigger } from './segment_queries.ts';

const CHANGES = { segment_entered: 'entered', segment_left: 'left' } as const;

/**
 * Has whoever comes from now on follow a version. Of segments, from now on is what is written after the end that
 * their history has at present.
 */
export const switchOn = async (
  scope: Scope,
  automationId: string,
  version: number,
  { trigger }: Definition,
): Promise<void> => {
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
