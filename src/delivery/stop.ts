import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EndedSend } from './ended_queries.ts';

/** Why a send that waits is not handed over any more; `delivery.end_for` says as what it ends. */
type Stop =
  'automation_archived' | 'cancelled' | 'erased' | 'expired' | 'failed_render' | 'provider_deleted';
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
