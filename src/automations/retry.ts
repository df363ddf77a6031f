import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { holdAutomation } from './queries.ts';
import { countFailed, reviveRuns } from './retry_queries.ts';
import { findRunById } from './shown_queries.ts';

/**
 * Has runs that failed go on at the step where they are: one of an automation, or all. What they had done before stays
 * done and is not done again; a step that was due too long ago by then expires, as after a pause. Answers how many are
 * failed yet.
 */
export const retryFailed = async (
  scope: Scope,
  automationId: string,
  runId: string | null,
): Promise<number> => {
  const held = await holdAutomation(scope, automationId);
  if (held === null) throw new Refusal('not_found');
  if (held.status === 'archived')
    throw new Refusal('automation_state', {
      detail: 'An archived automation stays archived, and so does whoever was inside.',
    });
  if (runId !== null && (await findRunById(scope, runId))?.automation_id !== automationId)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/run_id', message: 'this automation has no such run' }],
    });
  await reviveRuns(scope, automationId, runId);
  return countFailed(scope, automationId);
};
