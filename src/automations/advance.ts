import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { callHint } from './call_hint.ts';
import { moveClaimed } from './commands/move_claimed.ts';
import { claimDueRuns, listDueRuns } from './run_queries.ts';
import type { DueRun } from './run_queries.ts';
import { freezeRuns } from './stand_queries.ts';
import { holdPeople } from './trigger_queries.ts';
import { walkRuns } from './walk_runs.ts';

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 500;

export type Advanced = { hints: Hint[]; isMore: boolean };

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

const isFrozen = ({ automation_status, is_test }: DueRun): boolean =>
  automation_status === 'paused' && !is_test;

/**
 * Takes due runs of the project and walks each until it waits or ends; those of an automation that is paused
 * are frozen where they are. Returns what to wake after the commit. A run that cannot be walked waits longer each
 * time and is given up in the end, and the others go on. With `isFirstOnly` it takes only what an event has just
 * started or woken.
 */
export const advance = async (
  scope: Scope,
  { isFirstOnly = false }: { isFirstOnly?: boolean } = {},
): Promise<Advanced> => {
  const due = await listDueRuns(scope, { runsMax: CLAIM_RUNS_MAX, isFirstOnly });
  if (due.length === 0) return { hints: [], isMore: false };
  // People first: whoever processes their events has locked them before it wakes their runs.
  const profileOf = await profiles.holdProfiles(
    scope,
    due.map(({ identity_id }) => identity_id),
  );
  const capped = due.filter(({ is_capped }) => is_capped);
  await holdPeople(
    scope,
    capped.flatMap(({ identity_id }) => profileOf.get(identity_id) ?? []),
  );
  const claimed = await claimDueRuns(
    scope,
    due.map(({ run_id }) => run_id),
  );
  const frozen = claimed.filter(isFrozen).map(({ run_id }) => run_id);
  await freezeRuns(scope, frozen);
  const runs = await moveClaimed(
    scope,
    claimed.filter((run) => !isFrozen(run)),
  );
  const done = await walkRuns(scope, runs, profileOf);
  const providerIds = new Set(done.flatMap(({ queuedFor }) => [...queuedFor]));
  const endpointIds = new Set(done.flatMap(({ calledAt }) => [...calledAt]));
  return {
    hints: [
      ...[...providerIds].map((providerId) => delivery.sendHint(scope.projectId, providerId)),
      ...[...endpointIds].map((endpointId) => callHint(scope.projectId, endpointId)),
    ],
    isMore: claimed.length === CLAIM_RUNS_MAX || done.some(({ isMore }) => isMore),
  };
};

/**
 * Walks what flushes have just started or woken, in their transaction: an event does not wait for runs that are due by
 * time. Where that fails, what was started stays, and more is due: the job that advances the runs says why.
 */
export const advanceStarted = async (
  scope: Scope,
  done: readonly { started: number }[],
): Promise<Advanced> => {
  if (!done.some(({ started }) => started > 0)) return { hints: [], isMore: false };
  const advanced = await attempt(scope, (inner) => advance(inner, { isFirstOnly: true }), {
    mayTimeOut: true,
  });
  return advanced.kind === 'done' ? advanced.value : { hints: [], isMore: true };
};
