import { z } from 'zod';
import { ALERT_WEBHOOK_TYPES } from '../../alerts/alerts.ts';

/** What happened to an email, as endpoints subscribe to it: each is an event on the timeline of a person. */
export const EMAIL_TYPES = [
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.unsubscribed',
  'email.clicked',
] as const;
export type EmailType = (typeof EMAIL_TYPES)[number];

/** Every type of a family, those of later releases too. */
const ALL_EMAILS = 'email.*';
const ALL_ALERTS = 'system.*';

/** What an endpoint may subscribe to. */
export const SUBSCRIBABLE = [
  ALL_EMAILS,
  ...EMAIL_TYPES,
  ALL_ALERTS,
  ...ALERT_WEBHOOK_TYPES,
] as const;

/** The type of a test event. No endpoint subscribes to it: a person requests it. */
export const TEST_TYPE = 'system.test';

const isDistinct = (types: readonly string[]): boolean => new Set(types).size === types.length;

export const EventTypes = z
  .array(z.enum(SUBSCRIBABLE))
  .refine(isDistinct, 'name each type once')
  .meta({
    description: 'What the endpoint subscribes to, besides webhook steps that name it.',
    examples: [['email.bounced', 'system.*']],
  });

/** Returns the types that a subscription to an alert's type may be by. */
export const alertSubscriptions = (type: string): string[] => [type, ALL_ALERTS];

/** Returns the types of emails that some subscriptions ask for. */
export const emailTypesOf = (types: readonly string[]): readonly EmailType[] =>
  types.includes(ALL_EMAILS) ? EMAIL_TYPES : EMAIL_TYPES.filter((type) => types.includes(type));

/** Returns what the timeline calls an email's event. */
export const eventNameOf = (type: EmailType): string => type.replace('.', '_');

/** Returns the type of an event that the service put on a timeline. */
export const emailTypeOf = (eventName: string): EmailType | undefined =>
  EMAIL_TYPES.find((type) => eventNameOf(type) === eventName);
