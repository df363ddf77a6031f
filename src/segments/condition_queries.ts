import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import { LATE_AFTER_MS } from '../ingest/ingest.ts';
import type { CountedCondition } from './conditions.ts';

const Condition = z.strictObject({
  condition_id: z.uuid(),
  status: z.enum(['new', 'filling', 'ready', 'unused']),
  filled_to: z.uuid(),
  created_at: z.date(),
});
export type ConditionRow = z.output<typeof Condition>;

export const listConditionRows = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Condition)`
    select condition_id, status, filled_to, created_at from segments.conditions
    where project_id = ${projectId} order by condition_id
  `);

export const insertConditions = (
  { tx, projectId }: Scope,
  conditions: readonly CountedCondition[],
) =>
  tx.query(sql.unsafe`
    insert into segments.conditions (project_id, condition_id, event_name, filters, is_daily, status, filled_to,
      created_at)
    select ${projectId}, made.condition_id, made.event_name, made.filters, made.is_daily, 'new', ${FIRST_ID}::uuid,
      now()
    from unnest(
      ${sql.array(
        conditions.map(({ conditionId }) => conditionId),
        'uuid',
      )},
      ${sql.array(
        conditions.map(({ event }) => event),
        'text',
      )},
      ${sql.array(
        conditions.map(({ filters }) => JSON.stringify(filters)),
        'jsonb',
      )},
      ${sql.array(
        conditions.map(({ isDaily }) => isDaily),
        'bool',
      )}
    ) as made (condition_id, event_name, filters, is_daily)
    order by made.condition_id
    on conflict do nothing
  `);

/** Waits for those who count for a condition, and keeps others from it until the transaction ends. */
export const holdCondition = ({ tx, projectId }: Scope, conditionId: string) =>
  tx.query(sql.unsafe`
    select from segments.conditions
    where project_id = ${projectId} and condition_id = ${conditionId}
    for update
  `);

/** Of these conditions only those that stand so. */
export const setConditions = async (
  { tx, projectId }: Scope,
  ids: readonly string[],
  change: { from: 'new' | 'any'; to: 'filling' | 'unused' },
): Promise<void> => {
  if (ids.length === 0) return;
  const standing =
    change.from === 'any' ? sql.fragment`` : sql.fragment`and status = ${change.from}`;
  await tx.query(sql.unsafe`
    select from segments.conditions
    where project_id = ${projectId} and condition_id = any (${sql.array([...ids], 'uuid')})
    order by condition_id
    for no key update
  `);
  await tx.query(sql.unsafe`
    update segments.conditions set status = ${change.to}
    where project_id = ${projectId} and condition_id = any (${sql.array([...ids], 'uuid')}) ${standing}
  `);
};

const HasMore = z.strictObject({ fill_counters: z.boolean() });

/** Counts the next events of the past; answers whether there may be more. */
export const fillCounters = async (
  { tx, projectId }: Scope,
  eventsMax: number,
): Promise<boolean> => {
  const row = await tx.one(sql.type(HasMore)`
    select fill_counters
    from segments.fill_counters(project_id => ${projectId}, events_max => ${eventsMax}) as fill_counters
  `);
  return row.fill_counters;
};

const HasSegments = z.strictObject({ count_events: z.boolean() });

export const countFlushes = async (
  { tx, projectId }: Scope,
  flushIds: readonly string[],
): Promise<boolean> => {
  const row = await tx.one(sql.type(HasSegments)`
    select count_events from segments.count_events(
      project_id => ${projectId}, flush_ids => ${sql.array([...flushIds], 'uuid')},
      late_ms => ${LATE_AFTER_MS}::bigint
    ) as count_events
  `);
  return row.count_events;
};

/** Forgets what was counted for a condition that nobody asks any more; answers whether there may be more. */
export const deleteCounters = async (
  { tx, projectId }: Scope,
  conditionId: string,
  countersMax: number,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.counters as counted
    using (
      select identity_id, day from segments.counters
      where project_id = ${projectId} and condition_id = ${conditionId}
      order by identity_id, day
      limit ${countersMax}
    ) as page
    where counted.project_id = ${projectId} and counted.condition_id = ${conditionId}
    and counted.identity_id = page.identity_id and counted.day = page.day
  `);
  return rowCount === countersMax;
};

export const deleteCondition = ({ tx, projectId }: Scope, conditionId: string) =>
  tx.query(sql.unsafe`
    delete from segments.conditions
    where project_id = ${projectId} and condition_id = ${conditionId} and status = 'unused'
  `);
