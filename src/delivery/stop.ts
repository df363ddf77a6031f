import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EndedSend } from './ended_queries.ts';

/** Why a send that waits is not handed over any more; `delivery.end_for` says as what it ends. */
type Stop =
  | 'automation_archived'
  | 'automation_deleted'
  | 'cancelled'
  | 'erased'
  | 'expired'
  | 'failed_render'
  | 'provider_deleted'
  | 'run_merged'
  | 'sent_by_other_run'
  | 'unconfirmed_address';
type Stopped = {
  /** One id, or an array of ids. */
  sendIds: ReturnType<typeof sql.fragment> | ReturnType<typeof sql.array>;
  stop: Stop;
  /** What is said of its end instead of that. */
  said?: string;
};

/** Ends sends that wait; those of which an earlier hand-off may have been taken are unknown again, and held. */
export const stopSends = ({ tx, projectId }: Scope, { sendIds, stop, said }: Stopped) =>
  tx.any(sql.type(EndedSend)`
    select stopped_id as send_id
    from delivery.stop_sends(
      project_id => ${projectId},
      send_ids => ${sendIds},
      stop => ${stop},
      said => ${said ?? null}
    )
  `);

type Leased = { sendId: string; owner: string };

const stillLeased = ({ projectId }: Scope, { sendId, owner }: Leased) => sql.fragment`array(
  select send_id from delivery.sends
  where project_id = ${projectId} and send_id = ${sendId} and status = 'queued' and lease_owner = ${owner}
  for update
)`;

/** Ends a leased send that cannot be built. One that may have been taken before keeps nothing of a template's words. */
export const failRender = (scope: Scope, leased: Leased, reason: string) =>
  stopSends(scope, {
    stop: 'failed_render',
    said: reason,
    sendIds: stillLeased(scope, leased),
  });

/** Ends a leased send whose template needs what its unconfirmed address may not receive. */
export const cancelUnconfirmed = (scope: Scope, leased: Leased) =>
  stopSends(scope, { stop: 'unconfirmed_address', sendIds: stillLeased(scope, leased) });
