import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { callHint } from './call_hint.ts';
import { moveClaimed } from './commands/move_claimed.ts';
import { readDefinitions } from './definitions.ts';
import { claimDueRuns, isOver, listDueOf, listDueRuns } from './due_queries.ts';
import type { Due, DueRun } from './due_queries.ts';
import { openLive } from './live.ts';
import { mergeHint } from './merges/merge_hint.ts';
import { Others } from './merges/others.ts';
import { listPending } from './merges/pending_queries.ts';
import { lockRecipients } from './recipients.ts';
import { readClock } from './run_queries.ts';
import { saveWalks } from './save_walks.ts';
import type { SavedWalk } from './save_walks.ts';
import type { Definition } from './schema.ts';
import { freezeRuns, postponeRun } from './stand_queries.ts';
import { holdPeople } from './trigger_queries.ts';
import { Together } from './together.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 100;
/** The same in the transaction of flushes, which keeps people locked that other workers need: it has to stay short. */
export const FLUSH_RUNS_MAX = 50;
/** After this time the job that advances runs begins no further walk in a transaction, for the same reason. */
const WALK_MS_MAX = 250;

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;

export type Advanced = { hints: Hint[]; isMore: boolean };

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

type Done = { queuedFor: Set<string>; calledAt: Set<string>; isMore: boolean };

/** The walks that a transaction leaves to the next. */
const LEFT: Done = { queuedFor: new Set(), calledAt: new Set(), isMore: true };
const ARCHIVED: Walked = { log: [], stand: { kind: 'ended', outcome: 'archived' } };
const ERASED: Walked = { log: [], stand: { kind: 'ended', outcome: 'erased' } };

/** A test of an automation sends its email now: no quiet hours and no frequency cap. */
const asTried = (definition: Definition): Definition => ({
  ...definition,
  settings: { ...definition.settings, quiet_hours: null, frequency_cap: null },
});

/** The profiles of the people of runs, by identity, and when a walk of theirs begins at the latest. */
type Held = { profileOf: ReadonlyMap<string, string>; until: number };

const isTimeOver = ({ until }: Held): boolean => performance.now() > until;

const walkAll = async (scope: Scope, due: readonly DueRun[], held: Held): Promise<Done> => {
  const now = await readClock(scope);
  const definitionOf = await readDefinitions(scope, due);
  const together = await Together.open(
    scope,
    due,
    due.flatMap(({ identity_id }) => held.profileOf.get(identity_id) ?? []),
  );
  const queuedFor = new Set<string>();
  const calledAt = new Set<string>();
  const skipped: delivery.Skip[] = [];
  const stood: SavedWalk[] = [];
  const runs = due.map((one) => {
    const said = definitionOf(one);
    return { ...one, definition: one.is_test ? asTried(said) : said };
  });
  const others = new Others(scope, runs, held.profileOf);
  for (const run of runs) {
    if (stood.length > 0 && isTimeOver(held)) break;
    const profileId = held.profileOf.get(run.identity_id);
    if (isOver(run)) stood.push({ run, walked: ARCHIVED });
    else if (profileId === undefined) stood.push({ run, walked: ERASED });
    else {
      const around = { scope, run, together, others, profileId, now, queuedFor, calledAt, skipped };
      const live = openLive(around);
      const dueAt = run.wake_at;
      const isRestored = await together.wasInBackup(run);
      stood.push({ run, walked: await walk(run, { now, dueAt, isRestored, ...live }) });
    }
  }
  const isMore = await saveWalks(scope, stood, now);
  await delivery.observeSkips(scope, skipped);
  return { queuedFor, calledAt, isMore: isMore || stood.length < due.length };
};

/** Walks runs together. When one of them cannot be walked, each alone, and that one later. */
const walkWhatGoes = async (scope: Scope, runs: readonly DueRun[], held: Held): Promise<Done[]> => {
  // What fails here fails again in the walk that meets it, which reports it.
  await attempt(scope, (inner) => lockRecipients(inner, runs, held.profileOf));
  const together = await attempt(scope, (inner) => walkAll(inner, runs, held));
  if (together.kind === 'done') return [together.value];
  const done: Done[] = [];
  for (const [at, run] of runs.entries()) {
    if (at > 0 && isTimeOver(held)) return done.concat(LEFT);
    const alone = await attempt(scope, (inner) => walkAll(inner, [run], held));
    if (alone.kind === 'done') done.push(alone.value);
    else await postponeRun(scope, run, RUN_FAILURES_MAX);
  }
  return done;
};

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
 * Claims runs that are due and walks each until it waits or ends. After `walkMsMax` milliseconds it begins no further
 * walk. Freezes runs of a paused automation. A run that cannot be walked waits longer each time, and fails in the end.
 * Returns the hints for after the commit, and whether runs are left.
 */
const advanceDue = async (
  scope: Scope,
  due: readonly Due[],
  walkMsMax: number,
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
  const held = { profileOf, until: performance.now() + walkMsMax };
  const done = runs.length > 0 ? await walkWhatGoes(scope, runs, held) : [];
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

const NONE: Advanced = { hints: [], isMore: false };

/** Walks runs of the project that are due: `CLAIM_RUNS_MAX` at most, of them one at least. */
export const advance = async (scope: Scope, walkMsMax = WALK_MS_MAX): Promise<Advanced> => {
  const due = await listDueRuns(scope, CLAIM_RUNS_MAX);
  return due.length > 0 ? advanceDue(scope, due, walkMsMax) : NONE;
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
    const { hints, isMore } = await advanceDue(inner, chosen, Number.POSITIVE_INFINITY);
    return { hints, isMore: isMore || chosen.length < due.length };
  };
  const advanced = await attempt(scope, work, { mayTimeOut: true });
  if (advanced.kind === 'failed') return [advanceHint(scope.projectId)];
  const { hints, isMore } = advanced.value;
  return isMore ? [...hints, advanceHint(scope.projectId)] : hints;
};
