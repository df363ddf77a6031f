import type { Scope } from '../../base/db.ts';
import { isSameEmail } from '../../base/email_address.ts';
import * as profiles from '../../profiles/profiles.ts';
import { listLogs } from '../erase_queries.ts';
import type { Logged } from '../erase_queries.ts';
import type { ComparedPerson, ComparedRun, OthersOf } from './compared.ts';
import type { Merge } from './decide.ts';
import { appendLog, endMerges, lockMerged, restoreRuns } from './merge_queries.ts';
import type { Merged, NewDecision } from './merge_queries.ts';
import { REPEATED } from './repeated.ts';
import { listIdentitiesOfRuns, listLeftOut } from './left_out_queries.ts';
import { isStopped, listSendsOfRuns, listSentOfRuns } from './send_queries.ts';
import type { RunSend } from './send_queries.ts';

/** What an undo could not restore of a run, and why. */
const NOT_RESTORED = 'not_restored';

/** Returns the emails that logs name as not restored already. */
const listNotRestored = (logs: readonly Logged[]): Set<string> =>
  new Set(
    logs
      .filter(({ decision }) => decision === NOT_RESTORED)
      .map(({ run_id, detail: { about_send_id: sendId } }) =>
        typeof sendId === 'string' ? `${run_id}/${sendId}` : run_id,
      ),
  );

const toNotRestored = (runId: string, reason: string, send: RunSend): NewDecision => ({
  runId,
  stepId: send.step_id,
  decision: NOT_RESTORED,
  detail: { reason, about_send_id: send.send_id, other_run_id: send.run_id },
});

/** The emails that the merge took from a restored run, or that the other run sent in its place. */
const listLost = (
  { run_id, into_run_id, merged_at }: Merged,
  sends: readonly RunSend[],
  email: string | null,
): NewDecision[] =>
  sends.flatMap((send) => {
    const isCancelled =
      send.run_id === run_id && send.status === 'cancelled' && send.status_reason === 'run_merged';
    if (isCancelled) return [toNotRestored(run_id, 'email_cancelled', send)];
    const wentInstead =
      send.run_id === into_run_id &&
      send.queued_at >= merged_at &&
      !isStopped(send) &&
      isSameEmail(send.recipient, email);
    return wentInstead ? [toNotRestored(run_id, 'email_sent', send)] : [];
  });

const logLost = async (
  scope: Scope,
  restored: readonly Merged[],
  { profileId }: ComparedPerson,
): Promise<void> => {
  const runIds = restored.map(({ run_id }) => run_id);
  const sends = await listSendsOfRuns(scope, [
    ...new Set(restored.flatMap(({ run_id, into_run_id }) => [run_id, into_run_id])),
  ]);
  if (sends.length === 0) return;
  const email = (await profiles.findRow(scope, profileId))?.email ?? null;
  const before = listNotRestored(await listLogs(scope, runIds));
  const lost = restored.flatMap((merged) => listLost(merged, sends, email));
  await appendLog(
    scope,
    lost.filter(({ runId, detail }) => !before.has(`${runId}/${detail['about_send_id']}`)),
  );
};

type RestoreContext = { runs: readonly ComparedRun[]; person: ComparedPerson };

/**
 * Makes runs continue where they were when they ended as merged. Their logs say so, and which email did not or does not
 * come because of the merge. A run of an archived automation stays ended, and its log says so.
 */
export const restoreMerged = async (
  scope: Scope,
  restores: readonly Merge[],
  { runs, person }: RestoreContext,
): Promise<void> => {
  if (restores.length === 0) return;
  const merged = await lockMerged(
    scope,
    restores.map(({ runId }) => runId),
  );
  await endMerges(scope, merged);
  const archived = new Set(
    runs
      .filter(({ automation_status }) => automation_status === 'archived')
      .map(({ run_id }) => run_id),
  );
  const restored = merged.filter(({ run_id }) => !archived.has(run_id));
  await restoreRuns(scope, restored);
  await appendLog(
    scope,
    merged.map(({ run_id: runId, into_run_id, step_id: stepId }) => {
      const isArchived = archived.has(runId);
      return {
        runId,
        stepId,
        decision: isArchived ? NOT_RESTORED : 'restored',
        detail: {
          other_run_id: into_run_id,
          ...(isArchived ? { reason: 'automation_archived' } : {}),
        },
      };
    }),
  );
  if (restored.length > 0) await logLost(scope, restored, person);
};

/** Lists the emails that some runs left out because a run sent them that belongs to another person again. */
const listLeftOutNow = async (
  scope: Scope,
  runs: readonly ComparedRun[],
  { identityIds }: ComparedPerson,
): Promise<NewDecision[]> => {
  const leftOut = await listLeftOut(
    scope,
    runs.map(({ run_id }) => run_id),
  );
  if (leftOut.length === 0) return [];
  const others = await listIdentitiesOfRuns(
    scope,
    leftOut.map(({ other_run_id }) => other_run_id),
  );
  const own = new Set(identityIds);
  const gone = new Set(
    others.filter(({ identity_id }) => !own.has(identity_id)).map(({ run_id }) => run_id),
  );
  return leftOut
    .filter(({ other_run_id }) => gone.has(other_run_id))
    .map(({ run_id: runId, step_id: stepId, other_run_id, about_send_id }) => ({
      runId,
      stepId,
      decision: NOT_RESTORED,
      detail: { reason: 'email_left_out', about_send_id, other_run_id },
    }));
};

/** Lists the emails of some runs that were cancelled for the email of another run, and no run of the person sends. */
const listCancelled = async (
  scope: Scope,
  runs: readonly ComparedRun[],
  othersOf: OthersOf,
): Promise<NewDecision[]> => {
  const runOf = new Map(runs.map((run) => [run.run_id, run]));
  const cancelled = (await listSendsOfRuns(scope, [...runOf.keys()])).filter(
    ({ status, status_reason }) => status === 'cancelled' && status_reason === REPEATED,
  );
  if (cancelled.length === 0) return [];
  const before = listNotRestored(
    await listLogs(
      scope,
      cancelled.map(({ run_id }) => run_id),
    ),
  );
  const otherIds = [...runOf.values()].flatMap((run) => othersOf(run).map(({ run_id }) => run_id));
  const sent = await listSentOfRuns(scope, [...new Set(otherIds)]);
  return cancelled
    .filter(({ run_id, send_id }) => !before.has(`${run_id}/${send_id}`))
    .filter(({ run_id, step_id }) => {
      const run = runOf.get(run_id);
      const ids = new Set(run && othersOf(run).map((other) => other.run_id));
      return !sent.some((send) => send.step_id === step_id && ids.has(send.run_id));
    })
    .map((send) => toNotRestored(send.run_id, 'email_cancelled', send));
};

/**
 * Says in the logs of runs which emails do not come any more: another run sent them in their place, and an undo has
 * given that run back to another person.
 */
export const logLeftOut = async (
  scope: Scope,
  runs: readonly ComparedRun[],
  { person, othersOf }: { person: ComparedPerson; othersOf: OthersOf },
): Promise<void> => {
  const leftOut = await listLeftOutNow(scope, runs, person);
  await appendLog(scope, [...leftOut, ...(await listCancelled(scope, runs, othersOf))]);
};
