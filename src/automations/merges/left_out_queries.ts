import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';

const LeftOut = z.strictObject({
  run_id: z.uuid(),
  step_id: z.string(),
  other_run_id: z.uuid(),
  about_send_id: z.uuid(),
});

/** Lists the emails that runs left out because another run had sent them, without those a log names as not restored. */
export const listLeftOut = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(LeftOut)`
    select log.run_id, log.step_id, log.detail ->> 'other_run_id' as other_run_id,
      log.detail ->> 'about_send_id' as about_send_id
    from automations.run_log as log
    where log.project_id = ${projectId} and log.run_id = any (${sql.array([...runIds], 'uuid')})
    and log.decision = 'sent_by_other_run'
    and not exists (
      select from automations.run_log as other
      where other.project_id = ${projectId} and other.run_id = log.run_id and other.decision = 'not_restored'
      and other.detail ->> 'about_send_id' = log.detail ->> 'about_send_id'
    )
    order by log.run_id, log.entry
  `);

const IdentityOfRun = z.strictObject({ run_id: z.uuid(), identity_id: z.uuid() });

/** Lists the identity of each of some runs. */
export const listIdentitiesOfRuns = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(IdentityOfRun)`
    select run_id, identity_id from automations.runs
    where project_id = ${projectId} and run_id = any (${sql.array([...new Set(runIds)], 'uuid')})
  `);
