import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import { WINDOW_DAYS_MAX } from './value_schema.ts';

/** How many people one transaction of the weekly job checks, and how many counters it deletes. */
export const PRUNED_PEOPLE_MAX = 500;
export const PRUNED_COUNTERS_MAX = 5_000;

const Bound = z.strictObject({ before: z.string() });

/** Returns the first day that the longest window reaches, in UTC. */
const findBound = async ({ tx }: Scope): Promise<string> => {
  const { before } = await tx.one(sql.type(Bound)`
    select ((now() at time zone 'UTC')::date - ${WINDOW_DAYS_MAX}::integer)::text as before
  `);
  return before;
};

const ConditionId = z.strictObject({ condition_id: z.uuid() });

const listDaily = async ({ tx, projectId }: Scope): Promise<string[]> => {
  const rows = await tx.any(sql.type(ConditionId)`
    select condition_id from segments.conditions where project_id = ${projectId} and is_daily
  `);
  return rows.map(({ condition_id }) => condition_id);
};

type Page = { before: string; identityIds: readonly string[]; conditionIds: readonly string[] };

/** Each person and condition is one look at the oldest days: what stays is not read. */
const deleteOld = async (
  { tx, projectId }: Scope,
  { before, identityIds, conditionIds }: Page,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    with page as materialized (
      select old.identity_id, old.condition_id, old.day
      from unnest(${sql.array([...identityIds], 'uuid')}) as known (identity_id)
      cross join unnest(${sql.array([...conditionIds], 'uuid')}) as asked (condition_id)
      cross join lateral (
        select identity_id, condition_id, day from segments.counters
        where project_id = ${projectId} and identity_id = known.identity_id and condition_id = asked.condition_id
        and day < ${before}::date
        order by day
        limit ${PRUNED_COUNTERS_MAX}
        for update skip locked
      ) as old
      limit ${PRUNED_COUNTERS_MAX}
    )
    delete from segments.counters as counted
    using page
    where counted.project_id = ${projectId} and counted.identity_id = page.identity_id
    and counted.condition_id = page.condition_id and counted.day = page.day
  `);
  return rowCount;
};

/**
 * Deletes what the next people did on days that no window reaches any more. What is counted without days stays: it is
 * of the whole past.
 */
export const pruneCounters = async (
  scope: Scope,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const conditionIds = await listDaily(scope);
  if (conditionIds.length === 0) return { pruned: 0, after: null };
  const page = await identity.scanIdentities(scope, after, PRUNED_PEOPLE_MAX);
  const identityIds = page.map(({ identity_id }) => identity_id);
  const before = await findBound(scope);
  const pruned = await deleteOld(scope, { before, identityIds, conditionIds });
  if (pruned === PRUNED_COUNTERS_MAX) return { pruned, after };
  return { pruned, after: page.length < PRUNED_PEOPLE_MAX ? null : (identityIds.at(-1) ?? null) };
};
