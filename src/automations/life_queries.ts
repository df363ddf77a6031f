import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Lets runs that were frozen go on; answers how many. */
export const thawRuns = async ({ tx, projectId }: Scope, automationId: string): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.runs set status = 'active'
    where project_id = ${projectId} and automation_id = ${automationId} and status = 'paused'
  `);
  return rowCount;
};

/** Ends whoever is inside; answers how many. */
export const endAllRuns = async (
  { tx, projectId }: Scope,
  automationId: string,
): Promise<number> => {
  await tx.query(sql.unsafe`
    delete from automations.waits where project_id = ${projectId} and run_id in (
      select run.run_id from automations.runs as run
      where run.project_id = ${projectId} and run.automation_id = ${automationId}
      and run.status in ('active', 'paused')
    )
  `);
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.runs
    set status = 'ended', outcome = 'archived', step_id = null, wake_at = null, waits_until = null,
      test_recipient = null, ended_at = now()
    where project_id = ${projectId} and automation_id = ${automationId} and status in ('active', 'paused')
  `);
  return rowCount;
};

const RunId = z.strictObject({ run_id: z.uuid() });
const Inside = z.strictObject({ version: z.int(), step_id: z.string(), people: z.int() });

/** How many are at which step of which version. */
export const countInside = ({ tx, projectId }: Scope, automationId: string) =>
  tx.any(sql.type(Inside)`
    select version, step_id, count(*) as people from automations.runs
    where project_id = ${projectId} and automation_id = ${automationId} and status in ('active', 'paused')
    and step_id is not null and not is_test
    group by version, step_id
    order by version, step_id
  `);

const Shown = Inside.extend({ is_capped: z.boolean() });

/** Whoever is on their way, in earnest: what the index `runs_inside` is of. */
const isInside = sql.fragment`run.status in ('active', 'paused') and not run.is_test`;

/**
 * The same for whoever looks: of each step so many at most, and whether there are more. From one step to the next by
 * one look into the index, and counted there: what it costs does not depend on how many ever came.
 */
export const countInsideUpTo = (
  { tx, projectId }: Scope,
  automationId: string,
  peopleMax: number,
) => {
  const inside = sql.fragment`run.project_id = ${projectId} and run.automation_id = ${automationId} and ${isInside}`;
  return tx.any(sql.type(Shown)`
    with recursive place as (
      (
        select run.version, run.step_id from automations.runs as run
        where ${inside} and run.step_id is not null
        order by run.version, run.step_id limit 1
      )
      union all
      select next.version, next.step_id
      from place
      cross join lateral (
        select run.version, run.step_id from automations.runs as run
        where ${inside} and (run.version, run.step_id) > (place.version, place.step_id)
        order by run.version, run.step_id limit 1
      ) as next
    )
    select place.version, place.step_id, least(counted.people, ${peopleMax}) as people,
      counted.people > ${peopleMax} as is_capped
    from place
    cross join lateral (
      select count(*) as people from (
        select from automations.runs as run
        where ${inside} and run.version = place.version and run.step_id = place.step_id
        limit ${peopleMax + 1}
      ) as found
    ) as counted
    order by place.version, place.step_id
  `);
};

/**
 * Moves whoever is at some steps of a version to another version, where they are. What they waited for is
 * forgotten, and they look at once what the other version waits for.
 */
export const moveRuns = async (
  { tx, projectId }: Scope,
  automationId: string,
  { from, to, stepIds, now }: { from: number; to: number; stepIds: readonly string[]; now: Date },
): Promise<void> => {
  const moved = await tx.any(sql.type(RunId)`
    update automations.runs
    set version = ${to}
    where project_id = ${projectId} and automation_id = ${automationId} and version = ${from}
    and status in ('active', 'paused') and not is_test
    and step_id = any (${sql.array([...stepIds], 'text')})
    returning run_id
  `);
  const runIds = sql.array(
    moved.map(({ run_id }) => run_id),
    'uuid',
  );
  await tx.query(sql.unsafe`
    update automations.runs set wake_at = ${sql.timestamp(now)}
    where project_id = ${projectId} and run_id = any (${runIds}) and wake_at > ${sql.timestamp(now)}
  `);
  await tx.query(sql.unsafe`
    delete from automations.waits where project_id = ${projectId} and run_id = any (${runIds})
  `);
};
