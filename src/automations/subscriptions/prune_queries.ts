import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { nowInMs } from '../../base/now_in_ms.ts';
import { DELIVERIES_KEPT_HOURS, PRUNED_AT_ONCE_MAX } from './delivery_limits.ts';

const Id = z.strictObject({ endpoint_id: z.uuid() });

/** Lists the endpoints of a project with deliveries that wait. */
export const listWaitingEndpoints = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Id)`
    select endpoint_id from automations.endpoints as endpoint
    where project_id = ${projectId} and exists (
      select from automations.webhook_deliveries as delivery
      where delivery.project_id = ${projectId} and delivery.endpoint_id = endpoint.endpoint_id
      and delivery.status in ('waiting', 'calling')
    )
    order by endpoint_id
  `);

/** Drops deliveries of an endpoint that wait for too long. Returns how many. */
export const dropExpired = async (
  { tx, projectId }: Scope,
  endpointId: string,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.webhook_deliveries
    set status = 'dropped', reason = coalesce(reason, 'expired'), ended_at = ${nowInMs}
    where project_id = ${projectId} and delivery_id in (
      select delivery_id from automations.webhook_deliveries
      where project_id = ${projectId} and endpoint_id = ${endpointId} and status in ('waiting', 'calling')
      and expires_at <= statement_timestamp()
      order by delivery_id
      limit ${PRUNED_AT_ONCE_MAX}
      for update skip locked
    )
  `);
  return rowCount;
};

/** Drops the oldest deliveries of an endpoint that wait beyond a number. Returns how many. */
export const dropBeyond = async (
  { tx, projectId }: Scope,
  endpointId: string,
  waitingMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.webhook_deliveries set status = 'dropped', reason = 'too_many_waiting', ended_at = ${nowInMs}
    where project_id = ${projectId} and delivery_id in (
      select delivery_id from automations.webhook_deliveries
      where project_id = ${projectId} and endpoint_id = ${endpointId} and status = 'waiting'
      order by delivery_id desc
      offset ${waitingMax}
      limit ${PRUNED_AT_ONCE_MAX}
      for update skip locked
    )
  `);
  return rowCount;
};

/** Deletes deliveries that ended long ago. Returns how many. */
export const deleteEnded = async ({ tx, projectId }: Scope): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.webhook_deliveries
    where project_id = ${projectId} and delivery_id in (
      select delivery_id from automations.webhook_deliveries
      where project_id = ${projectId} and ended_at < now() - make_interval(hours => ${DELIVERIES_KEPT_HOURS})
      order by ended_at
      limit ${PRUNED_AT_ONCE_MAX}
      for update skip locked
    )
  `);
  return rowCount;
};
