import { sql } from '../base/db.ts';

/** Every event that the service records itself, with its meaning. No client may send an event of these names. */
export const SYSTEM_EVENTS = {
  email_sent: 'The provider accepted an email to the person.',
  email_skipped: 'An email to the person was not sent; `reason` says why.',
  email_delivered: 'The provider reported a delivery.',
  email_bounced: 'The provider reported a bounce; `bounce_type` is hard or soft.',
  email_complained: 'The person reported an email as spam.',
  email_unsubscribed: 'The person unsubscribed from marketing email.',
  email_opened: 'The provider reported an open.',
  email_clicked: 'The provider reported a click.',
} as const satisfies Record<`${typeof RESERVED_PREFIX}${string}`, string>;
export type SystemEventName = keyof typeof SYSTEM_EVENTS;

/** All names that begin so are reserved, so that the service can record more events later. `ingest.counts` agrees. */
export const RESERVED_PREFIX = 'email_';

/** Whether only the service records events of this name. */
export const isReserved = (name: string): boolean => name.startsWith(RESERVED_PREFIX);

/** Stands before a reserved name to make another. */
const OWN_PREFIX = 'user_';

/** Returns a name that a client may use instead of a reserved one; any other name stays as it is. */
export const toUnreserved = (name: string): string =>
  isReserved(name) ? `${OWN_PREFIX}${name}` : name;

/**
 * Matches the events of a name, in the table that is called `event`. Of a reserved name only those count that the
 * service recorded: clients could send such names once.
 */
export const isNamed = (name: string) =>
  isReserved(name)
    ? sql.fragment`event.name = ${name} and event.source = 'system'`
    : sql.fragment`event.name = ${name}`;
