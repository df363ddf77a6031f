import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteHalt, insertHalt, queuedToCancel } from './halt_queries.ts';
import type { Halt } from './halt_queries.ts';
import { observeEnded } from './observe.ts';
import { stopSends } from './stop.ts';

/**
 * Hands nothing of an automation over from the commit on, but what is under way, and tests. What is queued waits while
 * the automation is paused; `cancelQueued` ends it once the automation is archived.
 */
export const haltSends = (scope: Scope, automationId: string, stop: Halt) =>
  insertHalt(scope, automationId, stop);

/** Ends the pause of an automation's email; `releasePaused` makes due what was postponed meanwhile. */
export const goOnSending = (scope: Scope, automationId: string) => deleteHalt(scope, automationId);

/** Cancels queued email of an archived automation, at most `sendsMax`. Returns how many. */
export const cancelQueued = async (
  scope: Scope,
  automationId: string,
  sendsMax: number,
): Promise<number> => {
  const ended = await stopSends(scope, {
    stop: 'automation_archived',
    sendIds: queuedToCancel(scope, automationId, sendsMax),
  });
  await observeEnded(scope, ended);
  return ended.length;
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
