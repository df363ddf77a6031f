import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteHalt, insertHalt, releasePaused } from './halt_queries.ts';
import type { Halt } from './halt_queries.ts';
import { observeEnded } from './observe.ts';
import { stopSends } from './stop.ts';

/** How many sends go on at once when their automation does; others within an hour, as each was put off for. */
export const RELEASED_SENDS_MAX = 10_000;

/**
 * Hands nothing of an automation over from the commit on, but what is under way, and tests: what is queued waits while
 * it is paused, and is cancelled when its turn comes once it is archived.
 */
export const haltSends = (scope: Scope, automationId: string, stop: Halt) =>
  insertHalt(scope, automationId, stop);

/** Lets the mail of an automation that was paused go on. Of one that was not it changes nothing. */
export const goOnSending = async (scope: Scope, automationId: string): Promise<void> => {
  await deleteHalt(scope, automationId);
  await releasePaused(scope, automationId, RELEASED_SENDS_MAX);
};

/** Ends those of some leased sends whose automation is archived; answers which. */
export const cancelArchived = async (
  scope: Scope,
  sendIds: readonly string[],
): Promise<Set<string>> => {
  const ended = await stopSends(scope, {
    stop: 'automation_archived',
    sendIds: sql.fragment`array(
      select send.send_id from delivery.sends as send
      join delivery.halts as halt on halt.project_id = send.project_id and halt.automation_id = send.automation_id
      where send.project_id = ${scope.projectId} and send.send_id = any (${sql.array([...sendIds], 'uuid')})
      and not send.is_test and halt.stop = 'automation_archived'
    )`,
  });
  await observeEnded(scope, ended);
  return new Set(ended.map(({ send_id }) => send_id));
};
