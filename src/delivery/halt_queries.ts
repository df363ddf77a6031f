import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Why nothing of an automation is handed over: for as long as it is paused, or for good. */
export type Halt = 'automation_paused' | 'automation_archived';

export const insertHalt = ({ tx, projectId }: Scope, automationId: string, stop: Halt) =>
  tx.query(sql.unsafe`
    insert into delivery.halts (project_id, automation_id, stop)
    values (${projectId}, ${automationId}, ${stop})
    on conflict (project_id, automation_id) do update set stop = excluded.stop
  `);

/** Waits for whoever is putting sends off because of it. */
export const deleteHalt = ({ tx, projectId }: Scope, automationId: string) =>
  tx.query(sql.unsafe`
    delete from delivery.halts where project_id = ${projectId} and automation_id = ${automationId}
  `);

/**
 * Makes sends that wait for their automation due as they were when they were planned, so that nothing newer goes before
 * them; of many the longest waiting.
 */
export const releasePaused = ({ tx, projectId }: Scope, automationId: string, sendsMax: number) =>
  tx.query(sql.unsafe`
    update delivery.sends
    set status_reason = null, due_at = queued_at
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and status = 'queued'
      and automation_id = ${automationId} and status_reason = 'automation_paused'
      order by send_id
      limit ${sendsMax}
      for update
    ))
  `);
