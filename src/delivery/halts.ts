import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteHalt, ENDS, insertHalt, queuedToCancel } from './halt_queries.ts';
import type { End, Halt } from './halt_queries.ts';
import { observeEnded } from './observe.ts';
import { stopSends } from './stop.ts';

/**
 * Hands nothing of an automation over from the commit on, but what is under way, and tests. What is queued waits while
 * the automation is paused; `cancelQueued` ends it once the automation is archived or
 * deleted. The halt of a deleted automation stays: of an unknown outcome its sends may be queued again.
 */
export const haltSends = (scope: Scope, automationId: string, stop: Halt) =>
  insertHalt(scope, automationId, stop);

/** Ends the pause of an automation's email; `releasePaused` makes due what was postponed meanwhile. */
export const goOnSending = (scope: Scope, automationId: string) => deleteHalt(scope, automationId);

/** Cancels queued email of an automation that is archived or deleted, at most `sendsMax`. Returns how many. */
export const cancelQueued = async (
  scope: Scope,
  automationId: string,
  { stop, sendsMax }: { stop: End; sendsMax: number },
): Promise<number> => {
  const ended = await stopSends(scope, {
    stop,
    sendIds: queuedToCancel(scope, automationId, sendsMax),
  });
  await observeEnded(scope, ended);
  return ended.length;
};

const cancelHaltedBy = async (
  scope: Scope,
  sendIds: readonly string[],
  stop: End,
): Promise<string[]> => {
  const ended = await stopSends(scope, {
    stop,
    sendIds: sql.fragment`array(
      select send.send_id from delivery.sends as send
      join delivery.halts as halt on halt.project_id = send.project_id and halt.automation_id = send.automation_id
      where send.project_id = ${scope.projectId} and send.send_id = any (${sql.array([...sendIds], 'uuid')})
      and not send.is_test and halt.stop = ${stop}
    )`,
  });
  await observeEnded(scope, ended);
  return ended.map(({ send_id }) => send_id);
};

/** Ends those of some leased sends whose automation is archived or deleted; answers which. */
export const cancelHalted = async (
  scope: Scope,
  sendIds: readonly string[],
): Promise<Set<string>> => {
  const ended: string[] = [];
  for (const stop of ENDS) ended.push(...(await cancelHaltedBy(scope, sendIds, stop)));
  return new Set(ended);
};
