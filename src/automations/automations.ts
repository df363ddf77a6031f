import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import {
  activateVersion,
  findAutomationByName,
  insertAutomation,
  insertVersion,
  listAutomations,
} from './queries.ts';
import { Definition } from './schema.ts';
import type { NewDefinition } from './schema.ts';
import { startTriggered } from './triggers.ts';
import { wakeAwaited } from './waits.ts';

export { advance, advanceHint, CLAIM_RUNS_MAX, RUN_FAILURES_MAX } from './advance.ts';
export type { Advanced } from './advance.ts';
export { eraser } from './erase.ts';
export { runSection } from './export.ts';
export { activate, addVersion, create } from './life.ts';
export { findAutomation, findVersion } from './queries.ts';
export { holdAutomations, listTemplateUsers } from './template_queries.ts';
export { Definition };
export { findAutomationByName, listAutomations };

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
  const { trigger } = parsed;
  await activateVersion(scope, automationId, 1, trigger.kind === 'event' ? trigger.event : null);
  return automationId;
};

/**
 * Starts the runs that the events of some flushes call for, and wakes those that wait for one of them: both
 * once, whatever happens twice. Answers how many runs there are to be walked.
 */
export const startRuns = async (scope: Scope, flushIds: string[]): Promise<number> => {
  const started = await startTriggered(scope, flushIds);
  return started + (await wakeAwaited(scope, flushIds));
};
