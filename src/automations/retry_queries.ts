import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';

const Revived = z.strictObject({ run_id: z.uuid(), step_id: z.string() });

const Failed = z.strictObject({ failed: z.int() });

/** How many runs of an automation have failed and wait for somebody. */
export const countFailed = async (
  { tx, projectId }: Scope,
  automationId: string,
): Promise<number> =>
  (
    await tx.one(sql.type(Failed)`
      select count(*) as failed from automations.runs
      where project_id = ${projectId} and automation_id = ${automationId} and status = 'failed'
    `)
  ).failed;

/** Makes runs of an automation that failed, one or all, due as they were then, with a line in their logs. */
export const reviveRuns = async (
  { tx, projectId }: Scope,
  automationId: string,
  runId: string | null,
): Promise<void> => {
  const named = runId === null ? sql.fragment`` : sql.fragment`and run_id = ${runId}`;
  const revived = await tx.any(sql.type(Revived)`
    update automations.runs
    set status = 'active', failure_count = 0, ended_at = null,
      wake_at = least(wake_at, ${nowInMs})
    where project_id = ${projectId} and run_id = any (array(
      select run_id from automations.runs
      where project_id = ${projectId} and automation_id = ${automationId} and status = 'failed' ${named}
      order by run_id
      for no key update
    ))
    returning run_id, step_id
  `);
  const column = (read: (run: z.output<typeof Revived>) => string, type: string) =>
    sql.array(revived.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
    select ${projectId}, revived.run_id, known.entries, revived.step_id, 'run_retried', statement_timestamp()
    from unnest(
      ${column((run) => run.run_id, 'uuid')}, ${column((run) => run.step_id, 'text')}
    ) as revived (run_id, step_id)
    cross join lateral (
      select count(*) as entries from automations.run_log
      where project_id = ${projectId} and run_id = revived.run_id
    ) as known
  `);
};
