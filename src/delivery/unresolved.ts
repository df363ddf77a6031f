import { sql } from '../base/db.ts';

/**
 * Whether an earlier hand-off of a row of delivery.sends may have been taken: nobody knows what came of it, and nobody
 * has said that it was not sent.
 */
export const mayBeTaken = sql.fragment`(attempt_count > 0 and exists (
  select from delivery.attempts as tried
  where tried.project_id = sends.project_id and tried.send_id = sends.send_id
  and tried.outcome = 'unknown' and tried.reason is distinct from 'resolved'
))`;

/**
 * Where a send that waits goes when it is not handed over any more: to its end, or back to unknown, and held, where
 * an earlier hand-off may have been taken.
 */
export const endAs = (status: 'cancelled' | 'expired' | 'failed_render') => sql.fragment`
  status = case when ${mayBeTaken} then 'unknown' else ${status} end,
  due_at = case when ${mayBeTaken} then 'infinity' else due_at end,
  lease_owner = null,
  lease_until = null
`;
