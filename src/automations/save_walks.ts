import type { Scope } from '../base/db.ts';
import type { DueRun, WalkedRun } from './due_queries.ts';
import { insertLog } from './run_queries.ts';
import type { LogEntry } from './run_queries.ts';
import { insertReader } from './segment_queries.ts';
import { endRuns, keepWaiting } from './stand_queries.ts';
import type { Goal } from './step_schema.ts';
import type { Walked } from './walk.ts';
import { deleteWaits, insertWaits } from './wait_queries.ts';
import type { NewWait } from './wait_queries.ts';

/** How long any wait of a test is. */
export const TEST_WAIT_SECONDS = 5;
const SECOND_MS = 1_000;

/** A run and its walk. */
export type SavedWalk = { run: WalkedRun; walked: Walked };

/**
 * Saves where runs are after their walks, and what was decided. A run that begins to wait for an event, or for a date
 * of its person, is due at once, and looks again after the commit: what was processed before it has not woken the run,
 * and the walk has not seen what was stored after it. Returns whether there are such runs.
 */
export const saveWalks = async (
  scope: Scope,
  stood: readonly SavedWalk[],
  now: Date,
): Promise<boolean> => {
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
  // From the commit on a job reads who enters segments. What happens before it, the second look finds.
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

const toLog = ({ run, walked }: SavedWalk): LogEntry[] =>
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
const waitsOf = ({ run, walked }: SavedWalk): NewWait[] => {
  if (walked.stand.kind === 'ended') return [];
  const { run_id: runId, identity_id: identityId } = run;
  const { goal } = run.definition.settings;
  const { for: own, follows } = walked.stand;
  const of = { runId, identityId };
  return [
    ...(own ? [{ ...of, forWhat: 'step' as const, event: own.event, segmentId: null }] : []),
    ...(follows.length > 0
      ? [{ ...of, forWhat: 'date' as const, event: null, segmentId: null }]
      : []),
    ...(goal ? [{ ...of, forWhat: 'goal' as const, ...toAwaited(goal) }] : []),
  ];
};

/** A test waits for seconds wherever others wait for days. */
const compressed = (run: DueRun, until: Date, now: Date): Date => {
  const soon = new Date(now.getTime() + TEST_WAIT_SECONDS * SECOND_MS);
  return run.is_test && until > soon ? soon : until;
};
