import type { inferRouterInputs } from '@trpc/server';
import type { AppRouter } from '../../admin/router.ts';

/** What an endpoint may subscribe to. */
export type EventType = NonNullable<
  inferRouterInputs<AppRouter>['endpoints']['add']['endpoint']['event_types']
>[number];

const words: Record<EventType, string> = {
  'email.*': 'All email events',
  'email.sent': 'Email sent',
  'email.delivered': 'Email delivered',
  'email.bounced': 'Email bounced',
  'email.complained': 'Email reported as spam',
  'email.unsubscribed': 'Person unsubscribed',
  'email.clicked': 'Link clicked',
  'system.*': 'All alerts',
  'system.provider_held': 'Alert: email provider held',
  'system.provider_parked': 'Alert: email provider parked',
  'system.mailbox_failing': 'Alert: bounce mailbox cannot be read',
  'system.topic_pending': 'Alert: Amazon SNS topics wait',
  'system.domain_worse': 'Alert: domain health got worse',
  'system.endpoint_failing': 'Alert: webhook endpoint takes nothing',
  'system.bounce_rate': 'Alert: bounce rate too high',
  'system.complaint_rate': 'Alert: complaint rate too high',
};

const isEventType = (type: string): type is EventType => Object.hasOwn(words, type);

/** The choices of a list, in their order. */
export const EVENT_TYPE_CHOICES = Object.entries(words).map(([value, label]) => ({ value, label }));

/** Those of some types that this page knows. */
export const knownTypes = (types: readonly string[]): EventType[] => types.filter(isEventType);

/** A type in words; of a newer release, the type itself. */
export const wordsOfType = (type: string): string =>
  isEventType(type) ? words[type] : type === 'system.test' ? 'Test event' : type;
