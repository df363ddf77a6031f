import type { Entry } from './queries.ts';

/** An event as the API shows it. */
export const toEntry = ({ event_id, occurred_at, received_at, ...entry }: Entry) => ({
  id: event_id,
  ...entry,
  occurred_at: occurred_at.toISOString(),
  received_at: received_at.toISOString(),
});
