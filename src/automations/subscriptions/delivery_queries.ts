import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import { nowInMs } from '../../base/now_in_ms.ts';
import { CALL_LEASE_SECONDS } from '../call_limits.ts';
import type { WebhookOutcome } from '../webhook_outcome.ts';
import { DELIVERY_EXPIRES_HOURS } from './delivery_limits.ts';
import { TEST_TYPE } from './event_types.ts';

/** When a test event is due: before everything that waits. */
const BEFORE_OTHERS = sql.fragment`'epoch'::timestamptz`;

export const DELIVERY_STATUSES = ['waiting', 'calling', 'delivered', 'failed', 'dropped'] as const;

/** One message for one endpoint. `messageId` is the same however often it is queued. */
export type NewDelivery = {
  endpointId: string;
  messageId: string;
  type: string;
  eventId?: string;
  eventAt?: Date;
  alertId?: string;
  alertStatus?: 'open' | 'resolved';
};

const Queued = z.strictObject({ delivery_id: z.uuid(), endpoint_id: z.uuid() });

/** Queues messages, each once for its endpoint. Returns those that are new. */
export const insertDeliveries = async (
  { tx, projectId }: Scope,
  deliveries: readonly NewDelivery[],
) => {
  if (deliveries.length === 0) return [];
  const column = (read: (one: NewDelivery) => string | null, type: string) =>
    sql.array(deliveries.map(read), type);
  return tx.any(sql.type(Queued)`
    insert into automations.webhook_deliveries (project_id, delivery_id, endpoint_id, message_id, type, event_id,
      event_at, alert_id, alert_status, status, due_at, queued_at, expires_at)
    select ${projectId}, told.delivery_id, told.endpoint_id, told.message_id, told.type, told.event_id, told.event_at,
      told.alert_id, told.alert_status, 'waiting', ${nowInMs}, ${nowInMs},
      ${nowInMs} + make_interval(hours => ${DELIVERY_EXPIRES_HOURS})
    from unnest(
      ${column(newId, 'uuid')}, ${column((one) => one.endpointId, 'uuid')},
      ${column((one) => one.messageId, 'text')}, ${column((one) => one.type, 'text')},
      ${column((one) => one.eventId ?? null, 'uuid')},
      ${column((one) => one.eventAt?.toISOString() ?? null, 'timestamptz')},
      ${column((one) => one.alertId ?? null, 'uuid')}, ${column((one) => one.alertStatus ?? null, 'text')}
    ) as told (delivery_id, endpoint_id, message_id, type, event_id, event_at, alert_id, alert_status)
    on conflict on constraint webhook_deliveries_once_per_message do nothing
    returning delivery_id, endpoint_id
  `);
};

const Delivery = z.strictObject({
  delivery_id: z.uuid(),
  endpoint_id: z.uuid(),
  message_id: z.string(),
  type: z.string(),
  event_id: z.uuid().nullable(),
  event_at: z.date().nullable(),
  alert_id: z.uuid().nullable(),
  alert_status: z.enum(['open', 'resolved']).nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  due_at: z.date(),
  http_status: z.int().nullable(),
  reason: z.string().nullable(),
  queued_at: z.date(),
  expires_at: z.date(),
  ended_at: z.date().nullable(),
});
export type DeliveryRow = z.output<typeof Delivery>;

const columns = sql.fragment`delivery_id, endpoint_id, message_id, type, event_id, event_at, alert_id, alert_status,
  status, attempts, due_at, http_status, reason, queued_at, expires_at, ended_at`;

/**
 * Claims the next delivery of an endpoint that is due; null where there is none. A claim that no outcome followed is
 * due again when its lease is over.
 */
export const claimDelivery = async (
  { tx, projectId }: Scope,
  endpointId: string,
): Promise<DeliveryRow | null> => {
  const claimed = await tx.maybeOne(sql.type(Delivery)`
    select ${columns} from automations.webhook_deliveries
    where project_id = ${projectId} and endpoint_id = ${endpointId} and status in ('waiting', 'calling')
    and due_at <= statement_timestamp() and expires_at > statement_timestamp() and not base.is_sending_held()
    order by due_at
    limit 1
    for update skip locked
  `);
  if (!claimed) return null;
  await tx.query(sql.unsafe`
    update automations.webhook_deliveries
    set status = 'calling', attempts = attempts + 1,
      due_at = statement_timestamp() + make_interval(secs => ${CALL_LEASE_SECONDS})
    where project_id = ${projectId} and delivery_id = ${claimed.delivery_id}
  `);
  return { ...claimed, attempts: claimed.attempts + 1 };
};

export type EndedDelivery = {
  deliveryId: string;
  /** Which attempt it is of: another may have begun when its lease was over. */
  attempt: number;
} & WebhookOutcome;

/** Records the outcome of an attempt. What was delivered stays delivered. */
export const endDelivery = (
  { tx, projectId }: Scope,
  { deliveryId, attempt, status, retryAt, httpStatus, reason }: EndedDelivery,
) => {
  const isNews =
    status === 'delivered'
      ? sql.fragment`status <> 'delivered'`
      : sql.fragment`status = 'calling' and attempts = ${attempt}`;
  return tx.query(sql.unsafe`
    update automations.webhook_deliveries
    set status = ${status}, http_status = ${httpStatus}, reason = ${reason},
      due_at = ${retryAt === null ? sql.fragment`due_at` : sql.timestamp(retryAt)},
      ended_at = ${status === 'waiting' ? sql.fragment`null` : nowInMs}
    where project_id = ${projectId} and delivery_id = ${deliveryId} and ${isNews}
  `);
};

type Page = { limit: number; beforeId: string | null };

/** Lists the deliveries of an endpoint, the newest first: ids are time-ordered. */
export const listDeliveries = (
  { tx, projectId }: Scope,
  endpointId: string,
  { limit, beforeId }: Page,
) =>
  tx.any(sql.type(Delivery)`
    select ${columns} from automations.webhook_deliveries
    where project_id = ${projectId} and endpoint_id = ${endpointId}
    and (${beforeId}::uuid is null or delivery_id < ${beforeId})
    order by delivery_id desc
    limit ${limit}
  `);

export const getDelivery = ({ tx, projectId }: Scope, deliveryId: string) =>
  tx.maybeOne(sql.type(Delivery)`
    select ${columns} from automations.webhook_deliveries
    where project_id = ${projectId} and delivery_id = ${deliveryId}
  `);

const Waiting = z.strictObject({ count: z.int(), oldest_at: z.date().nullable() });

/** Counts the deliveries of an endpoint that wait, up to a number, and returns when the oldest was queued. */
export const countWaiting = ({ tx, projectId }: Scope, endpointId: string, countMax: number) =>
  tx.one(sql.type(Waiting)`
    select count(*)::integer as count, min(open.queued_at) as oldest_at from (
      select queued_at from automations.webhook_deliveries
      where project_id = ${projectId} and endpoint_id = ${endpointId} and status in ('waiting', 'calling')
      order by due_at
      limit ${countMax}
    ) as open
  `);

const Subscriber = z.strictObject({ endpoint_id: z.uuid() });

/** Lists the active endpoints that subscribe to one of some types. */
export const listSubscribers = ({ tx, projectId }: Scope, types: readonly string[]) =>
  tx.any(sql.type(Subscriber)`
    select endpoint_id from automations.endpoints
    where project_id = ${projectId} and status = 'active' and event_types && ${sql.array([...types], 'text')}
    order by endpoint_id
  `);

/** Queues a test event, and lets its endpoint be tried at once, however it failed before. */
export const insertTest = async (
  scope: Scope,
  endpointId: string,
  deliveryId: string,
): Promise<void> => {
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    insert into automations.webhook_deliveries (project_id, delivery_id, endpoint_id, message_id, type, status, due_at,
      queued_at, expires_at)
    values (${projectId}, ${deliveryId}, ${endpointId}, ${deliveryId}, ${TEST_TYPE}, 'waiting', ${BEFORE_OTHERS},
      ${nowInMs},
      ${nowInMs} + make_interval(hours => ${DELIVERY_EXPIRES_HOURS}))
    on conflict do nothing
  `);
  await tx.query(sql.unsafe`
    update automations.endpoints set paused_until = null
    where project_id = ${projectId} and endpoint_id = ${endpointId} and paused_until is not null
  `);
};
