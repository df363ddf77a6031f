import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { callHint } from './call_hint.ts';
import { moveClaimed } from './commands/move_claimed.ts';
import { readDefinitions } from './definitions.ts';
import { openLive } from './live.ts';
import { Others } from './merges/others.ts';
import { lockRecipients } from './recipients.ts';
import { claimDueRuns, insertLog, isOver, listDueRuns, readClock } from './run_queries.ts';
import type { DueRun, LogEntry } from './run_queries.ts';
import { insertReader } from './segment_queries.ts';
import type { Definition } from './schema.ts';
import type { Goal } from './step_schema.ts';
import { endRuns, freezeRuns, keepWaiting, postponeRun } from './stand_queries.ts';
import { holdPeople } from './trigger_queries.ts';
import { Together } from './together.ts';
import type { WalkedRun } from './together.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';
import { deleteWaits, insertWaits } from './wait_queries.ts';
import type { NewWait } from './wait_queries.ts';

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 500;

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;

/** How long any wait of a test is. */
export const TEST_WAIT_SECONDS = 5;
const SECOND_MS = 1_000;

export type Advanced = { hints: Hint[]; isMore: boolean };

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

type Stood = { run: WalkedRun; walked: Walked };
type Done = { queuedFor: Set<string>; calledAt: Set<string>; isMore: boolean };

const ARCHIVED: Walked = { log: [], stand: { kind: 'ended', outcome: 'archived' } };
const ERASED: Walked = { log: [], stand: { kind: 'ended', outcome: 'erased' } };

/** A test waits for seconds wherever others wait for days. */
const compressed = (run: DueRun, until: Date, now: Date): Date => {
  const soon = new Date(now.getTime() + TEST_WAIT_SECONDS * SECOND_MS);
  return run.is_test && until > soon ? soon : until;
};

/** Whoever tries an automation wants to see its mail now: nobody is disturbed by it, and nobody has had too many. */
const asTried = (definition: Definition): Definition => ({
  ...definition,
  settings: { ...definition.settings, quiet_hours: null, frequency_cap: null },
});

const toLog = ({ run, walked }: Stood): LogEntry[] =>
  walked.log.map(({ stepId, decision, detail }, at) => ({
    runId: run.run_id,
    entry: run.entries + at,
    stepId,
    decision,
    detail,
  }));

const toAwaited = (goal: Goal) =>
  'segment_id' in goal
    ? { event: null, segmentId: goal.segment_id }
    : { event: goal.event, segmentId: null };

/** What may wake a run before its time. */
const waitsOf = ({ run, walked }: Stood): NewWait[] => {
  if (walked.stand.kind === 'ended') return [];
  const { run_id: runId, identity_id: identityId } = run;
  const { goal } = run.definition.settings;
  const own = walked.stand.for;
  const of = { runId, identityId };
  return [
    ...(own ? [{ ...of, forWhat: 'step' as const, event: own.event, segmentId: null }] : []),
    ...(goal ? [{ ...of, forWhat: 'goal' as const, ...toAwaited(goal) }] : []),
  ];
};

/**
 * Keeps where runs are. One that begins to wait for an event looks once more after the commit: an event that was
 * processed before it has not woken the run, and one that was stored after we looked was not seen by us.
 */
const keep = async (scope: Scope, stood: readonly Stood[], now: Date): Promise<boolean> => {
  await insertLog(scope, stood.flatMap(toLog));
  await endRuns(
    scope,
    stood.flatMap(({ run, walked: { stand } }) =>
      stand.kind === 'ended' ? [{ runId: run.run_id, outcome: stand.outcome }] : [],
    ),
  );
  await deleteWaits(
    scope,
    stood.flatMap(({ run, walked: { stand } }) =>
      stand.kind === 'waiting' && stand.stepId !== run.step_id ? [run.run_id] : [],
    ),
    'step',
  );
  const waits = stood.flatMap(waitsOf);
  // From the commit on somebody reads who comes into segments: before it, the second look sees.
  if (waits.some(({ segmentId }) => segmentId !== null)) await insertReader(scope);
  const isNew = await insertWaits(scope, waits);
  await keepWaiting(
    scope,
    stood.flatMap(({ run, walked: { stand } }) => {
      if (stand.kind === 'ended') return [];
      const until = compressed(run, stand.until, now);
      const looksAgain = isNew.has(run.run_id);
      const wakeAt = looksAgain ? now : until;
      const goesFirst = looksAgain && run.goes_first;
      return [{ runId: run.run_id, stepId: stand.stepId, until, wakeAt, goesFirst }];
    }),
  );
  return isNew.size > 0;
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
  const stood: Stood[] = [];
  const runs = due.map((one) => {
    const said = definitionOf(one);
    return { ...one, definition: one.is_test ? asTried(said) : said };
  });
  const others = new Others(scope, runs, profileOf);
  for (const run of runs) {
    const profileId = profileOf.get(run.identity_id);
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
  const isMore = await keep(scope, stood, now);
  await delivery.observeSkips(scope, skipped);
  return { queuedFor, calledAt, isMore };
};

/** Walks runs together; when one of them cannot be walked, each alone, and that one later. */
const walkWhatGoes = async (
  scope: Scope,
  runs: readonly DueRun[],
  profileOf: Held,
): Promise<Done[]> => {
  // Whatever fails in it is said by the walk that meets it.
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
    due.map(({ run_id, identity_id }) => ({
      run_id,
      profile_id: profileOf.get(identity_id) ?? null,
    })),
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
