// What endpoints subscribe to: messages are queued in the transaction that records what they are about.
import * as alerts from '../../alerts/alerts.ts';
import type { Scope } from '../../base/db.ts';
import type { Hint } from '../../base/hints.ts';
import type { Subscription, TriggerEvent } from '../trigger_queries.ts';
import { deliveryHint } from './deliver.ts';
import { ANNOUNCED_AT_ONCE_MAX } from './delivery_limits.ts';
import { insertDeliveries, listSubscribers } from './delivery_queries.ts';
import type { NewDelivery } from './delivery_queries.ts';
import { alertSubscriptions, emailTypeOf, emailTypesOf, eventNameOf } from './event_types.ts';

const namesOf = ({ event_types }: Subscription): string[] =>
  emailTypesOf(event_types).map(eventNameOf);

/** Returns the names of the events that some endpoints subscribe to. */
export const subscribedNames = (subscriptions: readonly Subscription[]): string[] => [
  ...new Set(subscriptions.flatMap(namesOf)),
];

const hintsOf = ({ projectId }: Scope, queued: readonly { endpoint_id: string }[]): Hint[] =>
  [...new Set(queued.map(({ endpoint_id }) => endpoint_id))].map((id) =>
    deliveryHint(projectId, id),
  );

/** Queues the events of emails for the endpoints that subscribe to them. Returns hints for after the commit. */
export const queueEmailEvents = async (
  scope: Scope,
  subscriptions: readonly Subscription[],
  events: readonly TriggerEvent[],
): Promise<Hint[]> => {
  const ofSystem = events.filter(({ source }) => source === 'system');
  const deliveries = subscriptions.flatMap((subscription) => {
    const names = namesOf(subscription);
    return ofSystem.flatMap(({ name, event_id, occurred_at }): NewDelivery[] => {
      const type = names.includes(name) ? emailTypeOf(name) : undefined;
      if (type === undefined) return [];
      const { endpoint_id: endpointId } = subscription;
      return [{ endpointId, messageId: event_id, type, eventId: event_id, eventAt: occurred_at }];
    });
  });
  return hintsOf(scope, await insertDeliveries(scope, deliveries));
};

/** Wakes a worker for what has to be announced of a project. */
export const announceHint = (projectId: string): Hint => ({
  task: 'automations/announce_alerts',
  payload: { project_id: projectId },
});

/**
 * Queues alerts that opened or were resolved for the endpoints that subscribe to them. Safe to repeat: what was queued
 * is announced no more.
 */
export const announceAlerts = async (scope: Scope): Promise<{ hints: Hint[]; isMore: boolean }> => {
  const announcements = await alerts.claimAnnouncements(scope, ANNOUNCED_AT_ONCE_MAX);
  const deliveries: NewDelivery[] = [];
  for (const [kind, of] of Map.groupBy(announcements, (one) => one.kind)) {
    const type = alerts.webhookTypeOf(kind);
    const subscribers = await listSubscribers(scope, alertSubscriptions(type));
    for (const { endpoint_id: endpointId } of subscribers)
      for (const { alert_id: alertId, status: alertStatus } of of)
        deliveries.push({
          endpointId,
          messageId: `${alertId}_${alertStatus}`,
          type,
          alertId,
          alertStatus,
        });
  }
  const queued = await insertDeliveries(scope, deliveries);
  await alerts.deleteAnnouncements(scope, announcements);
  const isMore = announcements.length === ANNOUNCED_AT_ONCE_MAX;
  return { hints: hintsOf(scope, queued), isMore };
};
