import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { makeCallers } from './callers.ts';
import type { Vault } from './endpoints.ts';
import {
  findAutomationByName,
  insertAutomation,
  insertVersion,
  listAutomations,
  listAutomationsNamed,
} from './queries.ts';
import { Definition } from './schema.ts';
import type { NewDefinition } from './schema.ts';
import { switchOn } from './switch_on.ts';
import { followEvents } from './triggers.ts';
import type { Started } from './triggers.ts';
import { wakeAwaited } from './waits.ts';
export { schedulesHint, startScheduled } from './schedules.ts';

export { advance, advanceHint, advanceStarted, CLAIM_RUNS_MAX } from './advance.ts';
export type { Advanced } from './advance.ts';
export type { Condition } from './condition_schema.ts';
export { datesHint, followDates } from './dates.ts';
export { segmentStartHint, START_PEOPLE_MAX, startNextPeople } from './segment_start.ts';
export { commandHint, continueCommands } from './commands/commands.ts';
export { eraser } from './erase.ts';
export { enrollmentSection } from './enrollment_export.ts';
export { runSection } from './export.ts';
export {
  listSegmentUsersNamed as listSegmentUsers,
  READ_ENTRIES_MAX,
  readSegmentEntries,
  segmentEntriesHint,
  wakeReader,
} from './segment_entries.ts';
export { listNeededEntries } from './segment_queries.ts';
export { listInProgress } from './in_progress.ts';
export { compareRuns } from './merges/compare_runs.ts';
export { followLink } from './merges/follow_link.ts';
export { mergeHint } from './merges/merge_hint.ts';
export { COMPARED_RUNS_MAX, settleMerges } from './merges/settle.ts';
export { RUN_FAILURES_MAX } from './walk_runs.ts';
export { activate, addVersion, create } from './life.ts';
export { findCountedSince, listUnfinished, pruneRunLogs } from './prune.ts';
export { FIRST_REFUSAL, pruneRefusals } from './prune_refusals.ts';
export { mayPruneRuns } from './may_prune_runs.ts';
export { pruneRuns } from './prune_runs.ts';
export { pruneStarts } from './prune_starts.ts';
export { forgetPeople, listWithRuns } from './unneeded.ts';
export { listWithLocalLinks } from './public_links.ts';
export { findAutomation, findVersion } from './queries.ts';
export { NameOfAutomation } from './shown.ts';
export { holdAutomations, listTemplateUsers } from './template_queries.ts';
export { Definition };
export { findAutomationByName, listAutomations, listAutomationsNamed };
export { findEndpoint, listEndpoints } from './endpoint_queries.ts';
export type { EndpointRow } from './endpoint_queries.ts';
export { SECRET_OVERLAP_HOURS } from './endpoints.ts';
export { deliverWebhooks, deliveryHint } from './subscriptions/deliver.ts';
export { DELIVERIES_KEPT_HOURS } from './subscriptions/delivery_limits.ts';
export { pruneDeliveries } from './subscriptions/prune_deliveries.ts';
export { announceAlerts, announceHint } from './subscriptions/subscriptions.ts';

/** Has the calls of an endpoint made by this process, beside whoever asks. */
export const callEndpoint = (
  deps: Deps,
  vault: Vault,
  endpoint: { projectId: string; endpointId: string },
): void => deps.resources.of(makeCallers, { deps, vault }).feed(endpoint);

/** Makes an automation and switches it on, with its version 1 frozen. */
export const createActive = async (
  scope: Scope,
  name: string,
  definition: NewDefinition,
): Promise<string> => {
  const automationId = newId();
  const parsed = Definition.parse(definition);
  await insertAutomation(scope, automationId, name);
  await insertVersion(scope, automationId, 1, parsed);
  await switchOn(scope, automationId, 1, parsed);
  return automationId;
};

/**
 * Starts the runs that the events of some flushes call for, wakes those that wait for one of them, and queues the
 * events for the endpoints that subscribe to them: each once, whatever happens twice. Returns the ids of the runs
 * to be walked, and hints for after the commit.
 */
export const startRuns = async (scope: Scope, flushIds: string[]): Promise<Started> => {
  const { started, hints } = await followEvents(scope, flushIds);
  return { started: started.concat(await wakeAwaited(scope, flushIds)), hints };
};
