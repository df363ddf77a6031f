import { attempt } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import * as profiles from '../../profiles/profiles.ts';
import { readDefinitions } from '../definitions.ts';
import { DELETING } from '../queries.ts';
import { endRuns } from '../stand_queries.ts';
import { holdPeople } from '../trigger_queries.ts';
import type { ComparedPerson, ComparedRun } from './compared.ts';
import { decideMerges } from './decide.ts';
import type { Merge } from './decide.ts';
import {
  appendLog,
  endMerges,
  insertMerges,
  lockMerged,
  lockOpen,
  parkCalls,
} from './merge_queries.ts';
import type { Place } from './merge_queries.ts';
import { deletePending, lockPending, updatePending } from './pending_queries.ts';
import { cancelRepeated } from './repeated.ts';
import { restoreMerged, logLeftOut } from './restore.ts';
import { MERGED, valueDigestOf } from './rule.ts';
import { listOtherRuns, listRunsAfter } from './run_queries.ts';
import type { ComparedRow, OtherRow } from './run_queries.ts';

/** How many runs of a person one transaction compares. */
export const COMPARED_RUNS_MAX = 200;

/** Reads the re-entry rule of each run. A run whose version cannot be read is left alone, as it is by its walk. */
const readRules = async (scope: Scope, runs: readonly ComparedRow[]): Promise<ComparedRun[]> => {
  const read = (some: readonly ComparedRow[]) =>
    attempt(scope, async (inner) => {
      const definitionOf = await readDefinitions(inner, some);
      return some.map((run): ComparedRun => {
        const { re_entry: reEntry } = definitionOf(run).settings;
        const isOpen = run.status !== 'ended';
        return { ...run, reEntry, isOpen, mergedInto: isOpen ? null : run.merged_into };
      });
    });
  const together = await read(runs);
  if (together.kind === 'done') return together.value;
  const alone: ComparedRun[] = [];
  for (const run of runs) {
    const one = await read([run]);
    if (one.kind === 'done') alone.push(...one.value);
  }
  return alone;
};

const listOthers = async (
  scope: Scope,
  runs: readonly ComparedRun[],
  { profileId, identityIds }: ComparedPerson,
): Promise<(run: ComparedRun) => OtherRow[]> => {
  const rows = await listOtherRuns(
    scope,
    runs.map((run) => ({ ...run, profile_id: profileId, digest: valueDigestOf(run) })),
    identityIds.map((identity_id) => ({ identity_id, profile_id: profileId })),
  );
  const byRun = Map.groupBy(rows, ({ of_run_id }) => of_run_id);
  return ({ run_id }) => byRun.get(run_id) ?? [];
};

const logMerged = (scope: Scope, places: readonly Place[], intoOf: ReadonlyMap<string, string>) =>
  appendLog(
    scope,
    places.map(({ run_id: runId, step_id: stepId }) => ({
      runId,
      stepId,
      decision: MERGED,
      detail: { other_run_id: intoOf.get(runId) ?? '' },
    })),
  );

/** Ends runs whose person has an older one, each where it is. What a worker is doing for them just now counts. */
const endMerged = async (scope: Scope, merges: readonly Merge[]): Promise<void> => {
  const intoOf = new Map(merges.map(({ runId, intoRunId }) => [runId, intoRunId]));
  const places = await lockOpen(scope, [...intoOf.keys()]);
  if (places.length === 0) return;
  const runIds = places.map(({ run_id }) => run_id);
  await insertMerges(scope, places, (runId) => intoOf.get(runId) ?? '');
  await logMerged(scope, places, intoOf);
  await endRuns(
    scope,
    runIds.map((runId) => ({ runId, outcome: MERGED })),
  );
  await parkCalls(scope, runIds);
};

/** Has runs that stay merged follow another run, because the one before belongs to another person now. */
const moveMerged = async (scope: Scope, moves: readonly Merge[]): Promise<void> => {
  if (moves.length === 0) return;
  const intoOf = new Map(moves.map(({ runId, intoRunId }) => [runId, intoRunId]));
  const merged = await lockMerged(scope, [...intoOf.keys()]);
  await endMerges(scope, merged);
  await insertMerges(scope, merged, (runId) => intoOf.get(runId) ?? '');
  await logMerged(scope, merged, intoOf);
};

const settlePage = async (
  scope: Scope,
  page: readonly ComparedRow[],
  person: ComparedPerson,
  isUndo: boolean,
): Promise<void> => {
  const known = page.filter(({ automation_status }) => automation_status !== DELETING);
  const runs = (await readRules(scope, known)).filter(({ reEntry }) => reEntry !== 'every_time');
  if (runs.length === 0) return;
  const othersOf = await listOthers(scope, runs, person);
  const decided = decideMerges(runs, { othersOf, reEntryOf: ({ reEntry }) => reEntry });
  await endMerged(scope, decided.merges);
  await moveMerged(scope, decided.moves);
  const ended = new Set(decided.merges.map(({ runId }) => runId));
  await cancelRepeated(scope, runs, { othersOf, ended });
  await restoreMerged(scope, decided.restores, { runs, person });
  if (isUndo) await logLeftOut(scope, runs, { person, othersOf });
};

/**
 * Compares the runs of a person after a link or an undo: a part of them, the oldest first. Returns whether there are
 * more. Locks all identities of the person, so until the commit no worker walks their runs, no link
 * changes them, and no email of theirs is handed over. Safe to repeat: the same runs and links give the same decisions.
 */
export const settleMerges = async (
  scope: Scope,
  profileId: string,
  runsMax = COMPARED_RUNS_MAX,
): Promise<{ isMore: boolean }> => {
  const members = await profiles.lockPerson(scope, profileId);
  await holdPeople(scope, [profileId]);
  const pending = await lockPending(scope, profileId);
  if (pending === null) return { isMore: false };
  const living = members.filter(({ erasure_id }) => erasure_id === null);
  const identityIds = living.map(({ identity_id }) => identity_id);
  const page = await listRunsAfter(scope, identityIds, {
    afterId: pending.walked_to,
    limit: runsMax,
  });
  await settlePage(scope, page, { profileId, identityIds }, pending.is_undo);
  const last = page.length === runsMax ? page.at(-1) : undefined;
  if (last) await updatePending(scope, profileId, last.run_id);
  else await deletePending(scope, profileId);
  return { isMore: last !== undefined };
};
