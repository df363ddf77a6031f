import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
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
import { deleteOfSegment, deleteSegment, listDueWakes } from './member_queries.ts';
import { toDate } from './moments.ts';
import { holdProject, listInForce, listLatest, listStands, setDue } from './record_queries.ts';
import type { Stand } from './record_queries.ts';
import { refresh } from './refresh.ts';

/** How many people one transaction looks at, of those who changed or whose day has come. */
export const REFRESH_PROFILES_MAX = 500;
/** How many events of the past one transaction counts; nobody processes events of the project meanwhile. */
export const FILL_EVENTS_MAX = 20_000;
const DELETE_ROWS_MAX = 5_000;
const HOLD_FLUSHES_MAX = 100;

/** Looks at the people who changed. Answers how many. */
const refreshChanged = async (scope: Scope, today: number): Promise<number> => {
  if (!(await holdProject(scope))) return 0;
  const sources = await profiles.takeChanges(scope, REFRESH_PROFILES_MAX);
  if (sources.size === 0) return 0;
  const how = { today, cause: 'change', isAll: true, sources } as const;
  await refresh(scope, [...sources.keys()], await listInForce(scope), how);
  return sources.size;
};

/** Looks at the people whose day has come. Answers how many. */
const refreshDue = async (scope: Scope, today: number): Promise<number> => {
  if (!(await holdProject(scope))) return 0;
  const ids = await listDueWakes(scope, toDate(today), REFRESH_PROFILES_MAX);
  if (ids.length === 0) return 0;
  await refresh(scope, ids, await listInForce(scope), { today, cause: 'time', isAll: true });
  return ids.length;
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

type Advanced = { isMore: boolean; newIds: string[] };

/** Does one bounded piece of what definitions that came, changed or went ask for. */
const advance = async (scope: Scope, today: number): Promise<Advanced> => {
  const nothing = { isMore: false, newIds: [] };
  const held = await holdProject(scope);
  if (!held?.is_due) return nothing;
  const conditions = await reconcile(scope);
  const newIds = conditions.flatMap((one) => (one.status === 'new' ? one.condition_id : []));
  if (newIds.length > 0) return { isMore: true, newIds };
  const stands = await listStands(scope);
  const isDone =
    !(await startFills(scope, conditions, stands)) &&
    !(await fillNext(scope, stands, today)) &&
    !(await fillCounters(scope, FILL_EVENTS_MAX)) &&
    !(await forget(scope, conditions, stands));
  if (isDone) await setDue(scope, false);
  return { isMore: !isDone, newIds: [] };
};

/**
 * Conditions that are new are filled only when whoever processes events knows of them: this waits, one page
 * after the other, for those who may have looked before.
 */
const openConditions = async (
  deps: Pick<Deps, 'db' | 'keys'>,
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
 * Brings the segments of a project a piece further: those who changed and those whose day has come, some of
 * each, then a piece of what fills. Each piece is a transaction. Answers whether there is more to do.
 */
export const takeTurn = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  today: number,
): Promise<boolean> => {
  const changed = await inProject(deps, projectId, (scope) => refreshChanged(scope, today));
  const due = await inProject(deps, projectId, (scope) => refreshDue(scope, today));
  const { isMore, newIds } = await inProject(deps, projectId, (scope) => advance(scope, today));
  if (newIds.length > 0) await openConditions(deps, projectId, newIds);
  return changed > 0 || due > 0 || isMore;
};
