import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';

const LeftOut = z.strictObject({
  run_id: z.uuid(),
  step_id: z.string(),
  other_run_id: z.uuid(),
  about_send_id: z.uuid(),
});

/** Lists the emails that some runs left out because another run had sent them, without those that logs say are lost. */
export const listLeftOut = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(LeftOut)`
    select log.run_id, log.step_id, log.detail ->> 'other_run_id' as other_run_id,
      log.detail ->> 'about_send_id' as about_send_id
    from automations.run_log as log
    where log.project_id = ${projectId} and log.run_id = any (${sql.array([...runIds], 'uuid')})
    and log.decision = 'sent_by_other_run'
    and not exists (
      select from automations.run_log as said
      where said.project_id = ${projectId} and said.run_id = log.run_id and said.decision = 'not_restored'
      and said.detail ->> 'about_send_id' = log.detail ->> 'about_send_id'
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
