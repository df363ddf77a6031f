import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { DELETING } from './queries.ts';

const Running = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  automation_name: z.string(),
  identity_id: z.uuid(),
  status: z.enum(['active', 'paused']),
  started_at: z.date(),
});

/** Runs of some identities that have not ended, the newest first, so many at most. */
export const listInProgress = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  limit: number,
) =>
  tx.any(sql.type(Running)`
    select run.run_id, run.automation_id, automation.name as automation_name, run.identity_id, run.status,
      run.started_at
    from automations.runs as run
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    where run.project_id = ${projectId} and automation.project_id = ${projectId}
    and run.identity_id = any (${sql.array([...identityIds], 'uuid')})
    and run.status in ('active', 'paused') and automation.status <> ${DELETING}
    order by run.run_id desc
    limit ${limit}
  `);
