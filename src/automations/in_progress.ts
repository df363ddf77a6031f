import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { mayBeRestored } from './merges/merge_queries.ts';
import { DELETING } from './queries.ts';

const Running = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  automation_name: z.string(),
  identity_id: z.uuid(),
  status: z.enum(['active', 'paused', 'merged']),
  started_at: z.date(),
});

/**
 * Lists runs of some identities that have not ended, and those that ended as merged and that an undo may restore. The
 * newest come first, `limit` at most.
 */
export const listInProgress = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  limit: number,
) =>
  tx.any(sql.type(Running)`
    select run.run_id, run.automation_id, automation.name as automation_name, run.identity_id,
      case when run.status = 'ended' then 'merged' else run.status end as status, run.started_at
    from automations.runs as run
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    where run.project_id = ${projectId} and automation.project_id = ${projectId}
    and run.identity_id = any (${sql.array([...identityIds], 'uuid')})
    and (run.status in ('active', 'paused') or run.outcome = 'merged' and ${mayBeRestored(projectId)})
    and automation.status <> ${DELETING}
    order by run.run_id desc
    limit ${limit}
  `);
