import type { Scope } from '../../base/db.ts';
import * as delivery from '../../delivery/delivery.ts';
import type { ComparedRun, OthersOf } from './compared.ts';
import { areExclusive, isOlder } from './rule.ts';
import type { OtherRun } from './rule.ts';
import { listSendsOfRuns, listSentOfRuns } from './send_queries.ts';
import type { RunSend } from './send_queries.ts';

type RepeatContext = {
  othersOf: OthersOf;
  /** The runs that have just ended as merged. */
  ended: ReadonlySet<string>;
};

/** Why an email is cancelled that another run of the person sends. */
export const REPEATED = 'sent_by_other_run';

const isQueued = ({ status }: RunSend): boolean => status === 'queued';

/** Whether the email of another run is the one that the person gets: it went before, or its run is the older one. */
const comesFirst = (run: ComparedRun, other: OtherRun, send: RunSend): boolean =>
  !isQueued(send) || isOlder(other, run);

/**
 * Cancels queued emails of some runs of one person: all of a run that ended as merged, and those that another run of
 * the person sends or has sent. An email that a worker hands over just now counts as sent.
 */
export const cancelRepeated = async (
  scope: Scope,
  runs: readonly ComparedRun[],
  { othersOf, ended }: RepeatContext,
): Promise<void> => {
  const own = await listSendsOfRuns(
    scope,
    runs.map(({ run_id }) => run_id),
  );
  const queued = own.filter(isQueued);
  if (queued.length === 0) return;
  const ofEnded = queued.filter(({ run_id }) => ended.has(run_id));
  await delivery.cancelSends(
    scope,
    ofEnded.map(({ send_id }) => send_id),
    'run_merged',
  );
  const runOf = new Map(runs.map((run) => [run.run_id, run]));
  const left = queued.filter(({ run_id }) => !ended.has(run_id));
  const otherIds = left.flatMap(({ run_id }) => {
    const run = runOf.get(run_id);
    return run ? othersOf(run).map((other) => other.run_id) : [];
  });
  if (otherIds.length === 0) return;
  const sends = await listSentOfRuns(scope, [...new Set(otherIds)]);
  const sendsOf = Map.groupBy(sends, ({ run_id }) => run_id);
  const repeated = left.filter(({ run_id, step_id }) => {
    const run = runOf.get(run_id);
    if (!run) return false;
    return othersOf(run).some(
      (other) =>
        areExclusive(run.reEntry, run, other) &&
        (sendsOf.get(other.run_id) ?? []).some(
          (send) => send.step_id === step_id && comesFirst(run, other, send),
        ),
    );
  });
  await delivery.cancelSends(
    scope,
    repeated.map(({ send_id }) => send_id),
    REPEATED,
  );
};
