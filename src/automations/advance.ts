import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { callHint } from './call_hint.ts';
import { moveClaimed } from './commands/move_claimed.ts';
import { readDefinitions } from './definitions.ts';
import { openLive } from './live.ts';
import { lockRecipients } from './recipients.ts';
import { claimDueRuns, isOver, listDueRuns, readClock } from './run_queries.ts';
import type { DueRun } from './run_queries.ts';
import { saveWalks } from './save_walks.ts';
import type { SavedWalk } from './save_walks.ts';
import type { Definition } from './schema.ts';
import { freezeRuns, postponeRun } from './stand_queries.ts';
import { holdPeople } from './trigger_queries.ts';
import { Together } from './together.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 500;
/** The same in the transaction of flushes, which keeps people locked that other workers need: it has to stay short. */
export const FLUSH_RUNS_MAX = 50;

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;

export type Advanced = { hints: Hint[]; isMore: boolean };

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

type Done = { queuedFor: Set<string>; calledAt: Set<string>; isMore: boolean };

const ARCHIVED: Walked = { log: [], stand: { kind: 'ended', outcome: 'archived' } };
const ERASED: Walked = { log: [], stand: { kind: 'ended', outcome: 'erased' } };

/** A test of an automation sends its email now: no quiet hours and no frequency cap. */
const asTried = (definition: Definition): Definition => ({
  ...definition,
  settings: { ...definition.settings, quiet_hours: null, frequency_cap: null },
});

/**
 * Whether what a run is due for may have been done before a backup was restored: the backup had it, or the event
 * that starts it, or nobody knows when it came into a segment first.
 */
const wasInBackup = async (run: DueRun, together: Together): Promise<boolean> => {
  const { restored_at: restoredAt } = run;
  if (restoredAt === null) return false;
  if (run.started_at < restoredAt) return true;
  if (run.trigger_event_id === null) return run.trigger_entry !== null;
  const event = await together.findTrigger(run);
  return event === null || event.received_at < restoredAt;
};

type Held = ReadonlyMap<string, string>;

const walkAll = async (scope: Scope, due: readonly DueRun[], profileOf: Held): Promise<Done> => {
  const now = await readClock(scope);
  const definitionOf = await readDefinitions(scope, due);
  const together = await Together.open(
    scope,
    due,
    due.flatMap(({ identity_id }) => profileOf.get(identity_id) ?? []),
  );
  const queuedFor = new Set<string>();
  const calledAt = new Set<string>();
  const skipped: delivery.Skip[] = [];
  const stood: SavedWalk[] = [];
  for (const one of due) {
    const said = definitionOf(one);
    const run = { ...one, definition: one.is_test ? asTried(said) : said };
    const profileId = profileOf.get(run.identity_id);
    if (isOver(run)) stood.push({ run, walked: ARCHIVED });
    else if (profileId === undefined) stood.push({ run, walked: ERASED });
    else {
      const around = { scope, run, together, profileId, now, queuedFor, calledAt, skipped };
      const live = openLive(around);
      const dueAt = run.wake_at;
      const isRestored = await wasInBackup(run, together);
      stood.push({ run, walked: await walk(run, { now, dueAt, isRestored, ...live }) });
    }
  }
  const isMore = await saveWalks(scope, stood, now);
  await delivery.observeSkips(scope, skipped);
  return { queuedFor, calledAt, isMore };
};

/** Walks runs together; when one of them cannot be walked, each alone, and that one later. */
const walkWhatGoes = async (
  scope: Scope,
  runs: readonly DueRun[],
  profileOf: Held,
): Promise<Done[]> => {
  // What fails here fails again in the walk that meets it, which reports it.
  await attempt(scope, (inner) => lockRecipients(inner, runs, profileOf));
  const together = await attempt(scope, (inner) => walkAll(inner, runs, profileOf));
  if (together.kind === 'done') return [together.value];
  const done: Done[] = [];
  for (const run of runs) {
    const alone = await attempt(scope, (inner) => walkAll(inner, [run], profileOf));
    if (alone.kind === 'done') done.push(alone.value);
    else await postponeRun(scope, run, RUN_FAILURES_MAX);
  }
  return done;
};

const isFrozen = ({ automation_status, is_test }: DueRun): boolean =>
  automation_status === 'paused' && !is_test;

/**
 * Claims due runs of the project and walks each until it waits or ends. Freezes those of a paused automation. A run
 * that cannot be walked waits longer each time, and fails in the end. With `isFirstOnly` it claims only what an event
 * has just started or woken. Returns the hints for after the commit.
 */
export const advance = async (
  scope: Scope,
  { isFirstOnly = false }: { isFirstOnly?: boolean } = {},
): Promise<Advanced> => {
  const runsMax = isFirstOnly ? FLUSH_RUNS_MAX : CLAIM_RUNS_MAX;
  const due = await listDueRuns(scope, { runsMax, isFirstOnly });
  if (due.length === 0) return { hints: [], isMore: false };
  // People first: the transaction that processes their events locks them before it wakes their runs.
  const profileOf = await profiles.holdProfiles(
    scope,
    due.map(({ identity_id }) => identity_id),
  );
  const isLeft = due.some(({ leaves_pages }) => leaves_pages);
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
  const done = runs.length > 0 ? await walkWhatGoes(scope, runs, profileOf) : [];
  const providerIds = new Set(done.flatMap(({ queuedFor }) => [...queuedFor]));
  const endpointIds = new Set(done.flatMap(({ calledAt }) => [...calledAt]));
  return {
    hints: [
      ...[...providerIds].map((providerId) => delivery.sendHint(scope.projectId, providerId)),
      ...[...endpointIds].map((endpointId) => callHint(scope.projectId, endpointId)),
    ],
    isMore: claimed.length === runsMax || isLeft || done.some(({ isMore }) => isMore),
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
