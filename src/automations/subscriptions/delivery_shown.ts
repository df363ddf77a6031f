import { z } from 'zod';
import type { Limit } from '../../base/route.ts';
import {
  DELIVERIES_KEPT_HOURS,
  DELIVERIES_WAITING_MAX,
  DELIVERY_EXPIRES_HOURS,
  ENDPOINT_FAILURES_MAX,
  ENDPOINT_REFUSALS_MAX,
  SUBSCRIBED_ENDPOINTS_MAX,
} from './delivery_limits.ts';
import { DELIVERY_STATUSES } from './delivery_queries.ts';
import type { DeliveryRow } from './delivery_queries.ts';
import { TEST_TYPE } from './event_types.ts';

const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';
const Timestamp = z.iso.datetime();

export const DELIVERY_SHOWN = {
  id: ID,
  message_id: ID,
  type: TEST_TYPE,
  status: 'waiting' as const,
  attempts: 0,
  http_status: null,
  reason: null,
  queued_at: NOW,
  next_attempt_at: NOW,
  ended_at: null,
};

export const Delivery = z
  .strictObject({
    id: z.uuid(),
    message_id: z.string().meta({ description: 'The `webhook-id`, the same at each attempt.' }),
    type: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    http_status: z.int().nullable(),
    reason: z.string().nullable().meta({ description: 'Why the last attempt failed.' }),
    queued_at: Timestamp,
    next_attempt_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery', examples: [DELIVERY_SHOWN] });

/** When a delivery that waits is tried: a test event overtakes all others, from the moment that it is queued. */
const nextAt = ({ due_at, queued_at }: DeliveryRow): Date =>
  due_at < queued_at ? queued_at : due_at;

export const toDelivery = (row: DeliveryRow) => ({
  id: row.delivery_id,
  message_id: row.message_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  http_status: row.http_status,
  reason: row.reason,
  queued_at: row.queued_at.toISOString(),
  next_attempt_at: row.status === 'waiting' ? nextAt(row).toISOString() : null,
  ended_at: row.ended_at?.toISOString() ?? null,
});

export const deliveryLimits: readonly Limit[] = [
  {
    name: 'Endpoints of a project that subscribe',
    value: SUBSCRIBED_ENDPOINTS_MAX,
    unit: 'items',
    where: '`event_types`',
  },
  {
    name: 'Age of a subscribed event that an endpoint did not take',
    value: DELIVERY_EXPIRES_HOURS,
    unit: 'hours',
    where: '`event_types`; it is dropped then',
  },
  {
    name: 'Subscribed events that wait for one endpoint',
    value: DELIVERIES_WAITING_MAX,
    unit: 'items',
    where: '`event_types`; the oldest are dropped, every five minutes',
  },
  {
    name: 'Age of a delivery in the list, since it ended',
    value: DELIVERIES_KEPT_HOURS,
    unit: 'hours',
    where: '`GET /v1/webhook-endpoints/{id}/deliveries`',
  },
  {
    name: 'Failures in a row after which an endpoint gets one event at a time',
    value: ENDPOINT_FAILURES_MAX,
    unit: 'items',
    where: '`event_types`, until one is delivered',
  },
  {
    name: 'Refusals in a row after which an endpoint is failing',
    value: ENDPOINT_REFUSALS_MAX,
    unit: 'items',
    where: '`failing_since`, until one is delivered',
  },
];
