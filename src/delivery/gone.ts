import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as providers from '../providers/providers.ts';

/** Also those that a worker has leased: none of them has begun. */
const cancelQueued = ({ tx, projectId }: Scope, providerId: string) =>
  tx.query(sql.unsafe`
    update delivery.sends
    set status = 'cancelled', status_reason = 'provider_deleted', lease_owner = null, lease_until = null
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and provider_id = ${providerId} and status = 'queued'
      order by send_id
      for update
    ))
  `);

/** Ends what is queued for a provider that there is not any more. One that is parked keeps its queue. */
export const cancelIfGone = async (scope: Scope, providerId: string): Promise<void> => {
  if (!(await providers.exists(scope, providerId))) await cancelQueued(scope, providerId);
};
