import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Counted = z.strictObject({
  automation_id: z.uuid(),
  runs: z.int(),
  inside: z.int(),
  converted: z.int(),
});

/** What became of the newest runs of each automation, at most `runsMax` of each. Tests do not count. */
export const countRunsOf = (
  { tx, projectId }: Scope,
  automationIds: readonly string[],
  runsMax: number,
) =>
  tx.any(sql.type(Counted)`
    select asked.automation_id, newest.runs, newest.inside, newest.converted
    from unnest(${sql.array([...automationIds], 'uuid')}) as asked (automation_id)
    cross join lateral (
      select count(*) as runs,
        count(*) filter (where last.status in ('active', 'paused')) as inside,
        count(*) filter (where last.outcome = 'converted') as converted
      from (
        select run.status, run.outcome from automations.runs as run
        where run.project_id = ${projectId} and run.automation_id = asked.automation_id and not run.is_test
        order by run.run_id desc
        limit ${runsMax}
      ) as last
    ) as newest
  `);

const Total = z.strictObject({ automation_id: z.uuid(), runs: z.int(), converted: z.int() });

/** Returns how many runs of each automation retention removed; none of those without any. */
export const readTotals = ({ tx, projectId }: Scope, automationIds: readonly string[]) =>
  tx.any(sql.type(Total)`
    select automation_id, sum(runs)::bigint as runs,
      coalesce(sum(runs) filter (where outcome = 'converted'), 0)::bigint as converted
    from automations.run_totals
    where project_id = ${projectId} and automation_id = any (${sql.array([...automationIds], 'uuid')})
    group by automation_id
  `);

const Version = z.strictObject({ version: z.int(), created_at: z.date() });

/** The versions of an automation, the newest first. */
export const listVersionsOf = (
  { tx, projectId }: Scope,
  automationId: string,
  { limit, before }: { limit: number; before: number | null },
) =>
  tx.any(sql.type(Version)`
    select version, created_at from automations.versions
    where project_id = ${projectId} and automation_id = ${automationId}
    and (${before}::int is null or version < ${before}::int)
    order by version desc
    limit ${limit}
  `);
