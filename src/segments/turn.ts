import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { todayAt } from './compile.ts';
import {
  deleteCondition,
  deleteCounters,
  fillCounters,
  holdCondition,
  insertConditions,
  listConditionRows,
  setConditions,
} from './condition_queries.ts';
import type { ConditionRow } from './condition_queries.ts';
import { listCounted } from './conditions.ts';
import { fillNext, startFills } from './fill.ts';
import { deleteOfSegment, deleteSegment } from './member_queries.ts';
import { holdProject, listInForce, listLatest, listStands, setDue } from './record_queries.ts';
import type { Stand } from './record_queries.ts';
import { mergeNotes } from './reasons.ts';
import { refresh } from './refresh.ts';
import { logFailed, refreshInParts } from './refresh_in_parts.ts';
import type { Failed } from './refresh_in_parts.ts';
import { listDueWakes, listPostponed } from './wake_queries.ts';

/** How many people one transaction looks at, of those who changed or whose day has come. */
export const REFRESH_PROFILES_MAX = 500;
/** How many events of the past one transaction counts; nobody processes events of the project meanwhile. */
export const FILL_EVENTS_MAX = 20_000;
const DELETE_ROWS_MAX = 5_000;
const HOLD_FLUSHES_MAX = 100;

type Refreshed = { count: number; failed: readonly Failed[] };
const NO_ONE: Refreshed = { count: 0, failed: [] };

type TurnDeps = Pick<Deps, 'db' | 'keys' | 'log'>;

/** Notes again that people changed, for the next transaction: one note for each reason, each with all that changed. */
const noteAgain = async (
  scope: Scope,
  left: readonly string[],
  noted: ReadonlyMap<string, profiles.ChangeNotes>,
): Promise<void> => {
  for (const [source, ids] of Map.groupBy(left, (id) => noted.get(id)?.source ?? null)) {
    const notes = ids.flatMap((id) => {
      const { reasons = [], aspects = null } = noted.get(id) ?? {};
      return reasons.map((reason) => ({ id, reason, aspects }));
    });
    await profiles.noteChanges(
      scope,
      notes.map(({ id }) => id),
      {
        source,
        reasons: notes.map(({ reason }) => reason),
        aspects: notes.map(({ aspects }) => aspects && [...new Set(aspects)]),
      },
    );
  }
};

/** Refreshes people who changed. Returns how many it settled, and who could not be evaluated. */
const refreshChanged = async (scope: Scope, now: Date): Promise<Refreshed> => {
  if (!(await holdProject(scope))) return NO_ONE;
  const taken = await profiles.takeChanges(scope, REFRESH_PROFILES_MAX);
  if (taken.size === 0) return NO_ONE;
  const ids = [...taken.keys()];
  const notes = mergeNotes(taken, await listPostponed(scope, ids));
  const how = { today: todayAt(now), cause: 'change', isAll: true, notes } as const;
  const defined = await listInForce(scope);
  const refreshed = await refreshInParts(scope, ids, {
    now,
    notes,
    work: (inner, some) => refresh(inner, some, defined, how),
  });
  await noteAgain(scope, ids.slice(refreshed.count), taken);
  return refreshed;
};

/** Refreshes people who are due by time. Returns the same. */
const refreshDue = async (scope: Scope, now: Date): Promise<Refreshed> => {
  if (!(await holdProject(scope))) return NO_ONE;
  const { ids, notes } = await listDueWakes(scope, now, REFRESH_PROFILES_MAX);
  if (ids.length === 0) return NO_ONE;
  const how = { today: todayAt(now), cause: 'time', isAll: true, notes } as const;
  const defined = await listInForce(scope);
  return refreshInParts(scope, ids, {
    now,
    notes,
    work: (inner, some) => refresh(inner, some, defined, how),
  });
};

/** Makes what is counted what is asked for; whatever nobody asks any more is on its way out. */
const reconcile = async (scope: Scope): Promise<readonly ConditionRow[]> => {
  const defined = [...(await listInForce(scope)), ...(await listLatest(scope))];
  const wanted = listCounted(defined.map(({ definition }) => definition));
  const known = await listConditionRows(scope);
  const knownIds = new Set(known.map(({ condition_id }) => condition_id));
  const wantedIds = new Set(wanted.map(({ conditionId }) => conditionId));
  const missing = wanted.filter(({ conditionId }) => !knownIds.has(conditionId));
  const spent = known.filter(
    ({ condition_id, status }) => status !== 'unused' && !wantedIds.has(condition_id),
  );
  if (missing.length === 0 && spent.length === 0) return known;
  await insertConditions(scope, missing);
  await setConditions(
    scope,
    spent.map(({ condition_id }) => condition_id),
    { from: 'any', to: 'unused' },
  );
  return listConditionRows(scope);
};

/** Forgets a bounded part of what nobody asks any more. */
const forget = async (
  scope: Scope,
  conditions: readonly ConditionRow[],
  stands: readonly Stand[],
): Promise<boolean> => {
  const condition = conditions.find(({ status }) => status === 'unused');
  if (condition) {
    // Held: whoever counted for it when it was still asked for is done, and nobody does any more.
    await holdCondition(scope, condition.condition_id);
    const isMore = await deleteCounters(scope, condition.condition_id, DELETE_ROWS_MAX);
    if (!isMore) await deleteCondition(scope, condition.condition_id);
    return true;
  }
  const gone = stands.find(({ status }) => status === 'deleting');
  if (!gone) return false;
  if (await deleteOfSegment(scope, gone.segment_id, DELETE_ROWS_MAX)) return true;
  await deleteSegment(scope, gone.segment_id);
  if (stands.length === 1) await profiles.unwatch(scope);
  return true;
};

type Advanced = { isMore: boolean; newIds: string[]; failed: readonly Failed[] };

/** Does one bounded piece of what definitions that came, changed or went ask for. */
const advance = async (scope: Scope, now: Date): Promise<Advanced> => {
  const nothing = { isMore: false, newIds: [], failed: [] };
  const held = await holdProject(scope);
  if (!held?.is_due) return nothing;
  const conditions = await reconcile(scope);
  const newIds = conditions.flatMap((one) => (one.status === 'new' ? one.condition_id : []));
  if (newIds.length > 0) return { isMore: true, newIds, failed: [] };
  const stands = await listStands(scope);
  if (await startFills(scope, conditions, stands)) return { ...nothing, isMore: true };
  const filled = await fillNext(scope, stands, now);
  const isDone =
    filled === null &&
    !(await fillCounters(scope, FILL_EVENTS_MAX)) &&
    !(await forget(scope, conditions, stands));
  if (isDone) await setDue(scope, false);
  return { isMore: !isDone, newIds: [], failed: filled ?? [] };
};

/**
 * Conditions that are new are filled only when whoever processes events knows of them: this waits, one page
 * after the other, for those who may have looked before.
 */
const openConditions = async (
  deps: Pick<TurnDeps, 'db' | 'keys'>,
  projectId: string,
  ids: readonly string[],
): Promise<void> => {
  for (let after: string | null = null; ;) {
    const held: string[] = await inProject(deps, projectId, (scope) =>
      ingest.holdFlushes(scope, after, HOLD_FLUSHES_MAX),
    );
    after = held.at(-1) ?? after;
    if (held.length < HOLD_FLUSHES_MAX) break;
  }
  await inProject(deps, projectId, async (scope) => {
    await holdProject(scope);
    await setConditions(scope, ids, { from: 'new', to: 'filling' });
  });
};

/**
 * Evaluates people who changed, and people who are due by time: some of each, in a transaction of its own. Returns
 * whether there may be more.
 */
export const refreshNextPeople = async (
  deps: TurnDeps,
  projectId: string,
  now: Date,
): Promise<boolean> => {
  const changed = await inProject(deps, projectId, (scope) => refreshChanged(scope, now));
  logFailed(deps, projectId, changed.failed);
  const due = await inProject(deps, projectId, (scope) => refreshDue(scope, now));
  logFailed(deps, projectId, due.failed);
  return changed.count > 0 || due.count > 0;
};

/** Does a piece of what definitions that came, changed or went ask for. Returns whether there is more. */
export const fillNextPiece = async (
  deps: TurnDeps,
  projectId: string,
  now: Date,
): Promise<boolean> => {
  const advanced = await inProject(deps, projectId, (scope) => advance(scope, now));
  logFailed(deps, projectId, advanced.failed);
  const { isMore, newIds } = advanced;
  if (newIds.length > 0) await openConditions(deps, projectId, newIds);
  return isMore;
};
