import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { callHint } from './call_hint.ts';
import { moveClaimed } from './commands/move_claimed.ts';
import { claimDueRuns, listDueOf, listDueRuns } from './due_queries.ts';
import type { Due, DueRun } from './due_queries.ts';
import { mergeHint } from './merges/merge_hint.ts';
import { listPending } from './merges/pending_queries.ts';
import { freezeRuns } from './stand_queries.ts';
import { holdPeople } from './trigger_queries.ts';
import { PIECE_RUNS, walkRuns } from './walk_runs.ts';

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 100;
/** The same in the transaction of flushes, which keeps people locked that other workers need: it has to stay short. */
export const FLUSH_RUNS_MAX = 50;
/** After this time a transaction begins no further piece of walks, for the same reason. */
const WALK_MS_MAX = 250;

export type Advanced = { hints: Hint[]; isMore: boolean };

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

/** Splits due runs into those that were claimed, in the order in which they take turns, and the others. */
const split = (due: readonly Due[], claimed: readonly DueRun[]) => {
  const byId = new Map(claimed.map((run) => [run.run_id, run]));
  return {
    claimed: due.flatMap(({ run_id }) => byId.get(run_id) ?? []),
    waiting: due.filter(({ run_id }) => !byId.has(run_id)),
  };
};

/** Asks for the comparisons that due runs wait for, except for runs that pages caused. */
const hintAtPending = async (
  scope: Scope,
  waiting: readonly Due[],
  profileOf: ReadonlyMap<string, string>,
): Promise<Hint[]> => {
  const ids = waiting.flatMap(({ identity_id, is_of_page }) =>
    is_of_page ? [] : (profileOf.get(identity_id) ?? []),
  );
  const pending = await listPending(scope, [...new Set(ids)]);
  return pending.map((profileId) => mergeHint(scope.projectId, profileId, 'server'));
};

const isFrozen = ({ automation_status, is_test }: DueRun): boolean =>
  automation_status === 'paused' && !is_test;

/**
 * Claims runs that are due and walks each until it waits or ends. After `msMax` milliseconds it begins no further piece
 * of them. Freezes runs of a paused automation. A run that cannot be walked waits longer each time, and fails in
 * the end. Returns the hints for after the commit, and whether runs are left.
 */
const advanceDue = async (
  scope: Scope,
  due: readonly Due[],
  { msMax, pieceRuns }: WalkBounds,
): Promise<Advanced> => {
  // People first: the transaction that processes their events locks them before it wakes their runs.
  const profileOf = await profiles.holdProfiles(
    scope,
    due.map(({ identity_id }) => identity_id),
  );
  const capped = due.filter(({ is_capped }) => is_capped);
  await holdPeople(
    scope,
    capped.flatMap(({ identity_id }) => profileOf.get(identity_id) ?? []),
  );
  const { claimed, waiting } = split(
    due,
    await claimDueRuns(
      scope,
      due.map(({ run_id, identity_id }) => ({
        run_id,
        profile_id: profileOf.get(identity_id) ?? null,
      })),
    ),
  );
  const pending = await hintAtPending(scope, waiting, profileOf);
  const frozen = claimed.filter(isFrozen).map(({ run_id }) => run_id);
  await freezeRuns(scope, frozen);
  const runs = await moveClaimed(
    scope,
    claimed.filter((run) => !isFrozen(run)),
  );
  const held = { profileOf, pieceRuns, until: performance.now() + msMax };
  const done = await walkRuns(scope, runs, held);
  const providerIds = new Set(done.flatMap(({ queuedFor }) => [...queuedFor]));
  const endpointIds = new Set(done.flatMap(({ calledAt }) => [...calledAt]));
  return {
    hints: [
      ...pending,
      ...[...providerIds].map((providerId) => delivery.sendHint(scope.projectId, providerId)),
      ...[...endpointIds].map((endpointId) => callHint(scope.projectId, endpointId)),
    ],
    isMore: claimed.length === CLAIM_RUNS_MAX || done.some(({ isMore }) => isMore),
  };
};

/** How long a transaction begins pieces of walks, and how many runs are in a piece. */
type WalkBounds = { msMax: number; pieceRuns: number };
const BOUNDS: WalkBounds = { msMax: WALK_MS_MAX, pieceRuns: PIECE_RUNS };
const NONE: Advanced = { hints: [], isMore: false };

/** Walks runs of the project that are due: `CLAIM_RUNS_MAX` at most, of them one piece at least. */
export const advance = async (
  scope: Scope,
  bounds: Partial<WalkBounds> = {},
): Promise<Advanced> => {
  const due = await listDueRuns(scope, CLAIM_RUNS_MAX);
  return due.length > 0 ? advanceDue(scope, due, { ...BOUNDS, ...bounds }) : NONE;
};

/**
 * Walks runs that flushes have just started or woken, in their transaction, so that an event does not wait for other
 * runs. It walks `FLUSH_RUNS_MAX` at most, and runs that pages caused only where it finds no others. It walks no
 * other run: the people of these are locked already, and those of others could be locked in another order elsewhere.
 * Where the walk fails, what was started stays for the job that advances the runs, which logs why. Returns the hints
 * for after the commit.
 */
export const advanceStarted = async (scope: Scope, runIds: readonly string[]): Promise<Hint[]> => {
  if (runIds.length === 0) return [];
  const work = async (inner: Scope): Promise<Advanced> => {
    const due = await listDueOf(inner, runIds);
    const others = due.filter(({ is_of_page }) => !is_of_page);
    const chosen = (others.length > 0 ? others : due).slice(0, FLUSH_RUNS_MAX);
    if (chosen.length === 0) return NONE;
    const { hints, isMore } = await advanceDue(inner, chosen, BOUNDS);
    return { hints, isMore: isMore || chosen.length < due.length };
  };
  const advanced = await attempt(scope, work, { mayTimeOut: true });
  if (advanced.kind === 'failed') return [advanceHint(scope.projectId)];
  const { hints, isMore } = advanced.value;
  return isMore ? [...hints, advanceHint(scope.projectId)] : hints;
};
