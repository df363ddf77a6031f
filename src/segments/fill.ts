import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { todayAt } from './compile.ts';
import type { ConditionRow } from './condition_queries.ts';
import { listCounted, listReached, listUsed } from './conditions.ts';
import { endFill, listToFill, moveFill, openStatic, startFill } from './fill_queries.ts';
import { listImported } from './import_queries.ts';
import { noteListed } from './listed.ts';
import { toDate } from './moments.ts';
import { listInForce, listLatest } from './record_queries.ts';
import type { Defined, Stand } from './record_queries.ts';
import { refresh } from './refresh.ts';
import { refreshInParts } from './refresh_in_parts.ts';
import type { Failed } from './refresh_in_parts.ts';
import { listDueWakesOf } from './wake_queries.ts';

/** How many people one transaction looks at for a definition that fills. */
export const FILL_PROFILES_MAX = 5_000;

/** Nobody could be in a static segment before it was made: whoever is on its list by now came into it. */
const open = async (scope: Scope, segmentId: string): Promise<void> => {
  await openStatic(scope, segmentId);
  await noteListed(scope, segmentId, { ids: await listImported(scope, segmentId) });
};

/**
 * Begins to look at everybody for whatever has all that it asks: what it asks of events is counted, and every segment
 * that it asks about, by way of others too, has the members that it should have. Answers whether it did.
 */
export const startFills = async (
  scope: Scope,
  conditions: readonly ConditionRow[],
  stands: readonly Stand[],
): Promise<boolean> => {
  const latest = new Map((await listLatest(scope)).map((one) => [one.segment_id, one]));
  const isReady = (id: string) =>
    conditions.some(({ condition_id, status }) => condition_id === id && status === 'ready');
  const isFilled = (id: string) => stands.find((one) => one.segment_id === id)?.status === 'ready';
  const startable = stands.filter(({ segment_id, status, filled_to }) => {
    const definition = latest.get(segment_id)?.definition;
    if (status !== 'counting' || filled_to !== null || !definition) return false;
    return (
      listCounted([definition]).every(({ conditionId }) => isReady(conditionId)) &&
      listReached(definition, latest).every(isFilled)
    );
  });
  if (startable.length > 0) await profiles.awaitUnwatched(scope);
  for (const { segment_id, kind } of startable)
    await (kind === 'static' ? open : startFill)(scope, segment_id);
  return startable.length > 0;
};

/** The definitions that ask about a segment, by way of others too. */
const listAsking = (all: readonly Defined[], segmentId: string): Defined[] => {
  const asking: Defined[] = [];
  const pending = [segmentId];
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const one of all)
      if (!asking.includes(one) && listUsed(one.definition).includes(id)) {
        asking.push(one);
        pending.push(one.segment_id);
      }
  return asking;
};

/** What has happened to people by now is not the doing of a new definition, so it is looked at before. */
const lookFirst = async (
  scope: Scope,
  profileIds: readonly string[],
  { all, today }: { all: readonly Defined[]; today: number },
): Promise<void> => {
  const notes = await profiles.takeChangesOf(scope, profileIds);
  if (notes.size > 0)
    await refresh(scope, [...notes.keys()], all, { today, cause: 'change', isAll: true, notes });
  const due = await listDueWakesOf(scope, toDate(today), profileIds);
  if (due.length > 0) await refresh(scope, due, all, { today, cause: 'time', isAll: true });
};

/**
 * Makes members of a definition whoever of some people it finds. Whoever comes or goes by that in segments that ask
 * about this one does so by the fill, too.
 */
const fillThose = async (
  scope: Scope,
  segmentId: string,
  { profileIds, today }: { profileIds: readonly string[]; today: number },
): Promise<void> => {
  const all = await listInForce(scope);
  const own = all.filter(({ segment_id }) => segment_id === segmentId);
  const filling = own.find(({ is_former }) => !is_former);
  if (!filling) return;
  const asking = listAsking(all, segmentId);
  if (asking.length > 0 || own.length > 1) await lookFirst(scope, profileIds, { all, today });
  const how = { today, cause: 'fill' as const, isAll: false };
  // As if the fill had reached all of these: they are why it is here.
  const changed = await refresh(scope, profileIds, [{ ...filling, filled_to: null }], how);
  const changedIds = [...new Set(changed.map(({ profile_id }) => profile_id))];
  if (asking.length > 0 && changedIds.length > 0) await refresh(scope, changedIds, asking, how);
};

/** Looks at the next people for a segment. Answers who could not be evaluated; null where nothing fills. */
export const fillNext = async (
  scope: Scope,
  stands: readonly Stand[],
  now: Date,
): Promise<readonly Failed[] | null> => {
  const filling = stands.find(({ filled_to }) => filled_to !== null);
  if (!filling?.filled_to) return null;
  const { segment_id: segmentId, filled_to: filledTo, filling_since: fillingSince } = filling;
  const profileIds = await listToFill(scope, { filledTo, fillingSince }, FILL_PROFILES_MAX);
  const today = todayAt(now);
  const { count, failed } = await refreshInParts(scope, profileIds, {
    now,
    work: (inner, some) => fillThose(inner, segmentId, { profileIds: some, today }),
  });
  const reached = profileIds[count - 1];
  const isMore = count < profileIds.length || count === FILL_PROFILES_MAX;
  if (reached !== undefined && isMore)
    await moveFill(scope, segmentId, { filledTo: reached, examined: count });
  else await endFill(scope, segmentId, count);
  return failed;
};
