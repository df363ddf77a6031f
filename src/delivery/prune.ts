import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { readRetention } from './retention.ts';
import {
  deleteSends,
  listPast,
  listWithContent,
  readCutoffs,
  removeContent,
} from './retention_queries.ts';
import type { Cutoffs } from './retention_queries.ts';

/** How many sends one transaction of the daily job checks. */
export const PRUNED_SENDS_MAX = 500;

/** What one batch did, and the id after which the next begins; null when there is none. */
export type Pruned = { pruned: number; after: string | null };

/** Returns what a project keeps no longer, by its settings and the months of events. */
export const findCutoffs = async (scope: Scope, eventMonths: number): Promise<Cutoffs> => {
  const { content_days, sends_months, runs_months, anonymous_months } = await readRetention(scope);
  return readCutoffs(scope, {
    contentDays: content_days,
    sends: sends_months ?? eventMonths,
    runs: runs_months ?? eventMonths,
    anonymous: anonymous_months ?? eventMonths,
    events: eventMonths,
  });
};

const lastOf = (rows: readonly { send_id: string }[]): string | null =>
  rows.length < PRUNED_SENDS_MAX ? null : (rows.at(-1)?.send_id ?? null);

/**
 * Removes what was rendered for the next old sends, and what their providers answered. Ids are in the order of time, so
 * the oldest come first and need no index of their own. The same again finds nothing.
 */
export const pruneContent = async (
  scope: Scope,
  { now, content: before }: Cutoffs,
  after: string,
): Promise<Pruned> => {
  const page = { after, before: firstIdAt(before), limit: PRUNED_SENDS_MAX };
  const rows = await listWithContent(scope, page);
  const ids = rows.map(({ send_id }) => send_id);
  return { pruned: await removeContent(scope, ids, { now, before }), after: lastOf(rows) };
};

/** Which of some runs go on: their branches may ask about their own sends. */
export type ListUnfinished = (scope: Scope, runIds: readonly string[]) => Promise<Set<string>>;

/** Deletes the next old sends, with their attempts. Those of a run that goes on stay, and so does what waits. */
export const pruneSends = async (
  scope: Scope,
  { before, listUnfinished }: { before: Date; listUnfinished: ListUnfinished },
  after: string,
): Promise<Pruned> => {
  const page = { after, before: firstIdAt(before), limit: PRUNED_SENDS_MAX };
  const rows = await listPast(scope, page);
  const unfinished = await listUnfinished(
    scope,
    rows.flatMap(({ run_id }) => run_id ?? []),
  );
  const ids = rows.filter(({ run_id }) => run_id === null || !unfinished.has(run_id));
  const pruned = await deleteSends(
    scope,
    ids.map(({ send_id }) => send_id),
    before,
  );
  return { pruned, after: lastOf(rows) };
};
