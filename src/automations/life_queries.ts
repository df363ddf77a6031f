import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** How many people at one step are counted. */
export const PEOPLE_AT_STEP_MAX = 10_000;

const Shown = z.strictObject({
  version: z.int(),
  step_id: z.string(),
  people: z.int(),
  is_capped: z.boolean(),
});

/** Runs that have not ended, without tests: the index `runs_inside`. */
export const isInside = sql.fragment`run.status in ('active', 'paused') and not run.is_test`;

/**
 * Counts the people at each step of each version, at most `peopleMax` of a step, and says whether there are more. One
 * look into the index finds the next step: the cost does not depend on how many runs there ever were.
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
