import { sql } from '../base/db.ts';

/** What comes later than this after it occurred was imported: nobody could act on it in its time. */
export const IMPORTED_AFTER_HOURS = 24;
/** An event that is received later than this after it occurred is a late one, for who enters and leaves segments. */
export const LATE_AFTER_MS = 60_000;
const HOUR_MS = 3_600_000;

type Times = { occurred_at: Date; received_at: Date };

/** Whether an event came so late that it is one of an import of the past. */
export const isImported = ({ occurred_at, received_at }: Times): boolean =>
  received_at.getTime() - occurred_at.getTime() > IMPORTED_AFTER_HOURS * HOUR_MS;

/**
 * When an event was there to be acted upon, for whoever looks at the past: when it was received. What was imported
 * counts as received in its time, or the past of whoever imports it would be one moment.
 */
export const arrivalOf = (event: Times): Date =>
  isImported(event) ? event.occurred_at : event.received_at;

/** Whether the event that is called `event` had arrived by a moment. The same rule. */
export const arrivedBy = (at: Date) => sql.fragment`
  case when event.received_at - event.occurred_at > make_interval(hours => ${IMPORTED_AFTER_HOURS})
    then event.occurred_at else event.received_at end <= ${sql.timestamp(at)}`;

/** When an event occurred at the latest: a clock may be ahead, but what was received has occurred. */
export const occurredBy = ({ occurred_at, received_at }: Times): Date =>
  received_at < occurred_at ? received_at : occurred_at;
