import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { observeEnded } from './observe.ts';
import { stopSends } from './stop.ts';
import * as providers from '../providers/providers.ts';

/** How many sends one turn of a provider that is gone ends; the sweeper reminds of the others. */
export const CANCEL_SENDS_MAX = 1_000;

/** Also those that a worker has leased: none of them has begun. */
const cancelQueued = (scope: Scope, providerId: string) =>
  stopSends(scope, {
    stop: 'provider_deleted',
    // Chosen in the order of their index, locked in the order of all locks.
    sendIds: sql.fragment`array(
      select send_id from delivery.sends
      where project_id = ${scope.projectId} and status = 'queued' and send_id = any (array(
        select send_id from delivery.sends
        where project_id = ${scope.projectId} and provider_id = ${providerId} and status = 'queued'
        order by priority, automation_id, due_at, send_id
        limit ${CANCEL_SENDS_MAX}
      ))
      order by send_id
      for update
    )`,
  });

/** Ends what is queued for a provider that there is not any more. One that is parked keeps its queue. */
export const cancelIfGone = async (scope: Scope, providerId: string): Promise<void> => {
  if (!(await providers.exists(scope, providerId)))
    await observeEnded(scope, await cancelQueued(scope, providerId));
};
