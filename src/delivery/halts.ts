import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteHalt, insertHalt, listHalted, queuedToCancel } from './halt_queries.ts';
import type { End, Halt } from './halt_queries.ts';
import { observeEnded } from './observe.ts';
import { stopSends } from './stop.ts';

/**
 * Hands nothing of an automation over from the commit on, but what is under way, and tests. What is queued waits while
 * the automation is paused; `cancelQueued` ends it once the automation is archived or deleted. The halt of a deleted
 * automation stays: of an unknown outcome its sends may be queued again.
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

/** Why single emails of automations are cancelled: their run ended as merged, or another run of the person sends it. */
export type Repeated = 'run_merged' | 'sent_by_other_run';

/** Cancels those of some emails that are queued. A hand-off that is under way goes on. */
export const cancelSends = async (
  scope: Scope,
  sendIds: readonly string[],
  stop: Repeated,
): Promise<void> => {
  if (sendIds.length === 0) return;
  const ended = await stopSends(scope, { stop, sendIds: sql.array([...sendIds], 'uuid') });
  await observeEnded(scope, ended);
};

/** Ends those of some leased sends whose automation is archived or deleted; answers which. */
export const cancelHalted = async (
  scope: Scope,
  sendIds: readonly string[],
): Promise<Set<string>> => {
  const cancelled = new Set<string>();
  const halted = await listHalted(scope, sendIds);
  for (const [stop, some] of Map.groupBy(halted, (one) => one.stop)) {
    const ids = some.map(({ send_id }) => send_id);
    const ended = await stopSends(scope, { stop, sendIds: sql.array(ids, 'uuid') });
    await observeEnded(scope, ended);
    for (const { send_id } of ended) cancelled.add(send_id);
  }
  return cancelled;
};
