import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';

/** This year lies within the accepted range whenever a test runs. */
export const YEAR = new Date().getUTCFullYear();

/** An event as the flusher stores it. */
export const newEvent = (given: Partial<EventRow> = {}): EventRow => ({
  event_id: newId(),
  message_id: null,
  name: 'user_signed_up',
  external_id: 'ann',
  anonymous_id: null,
  properties: '{}',
  occurred_at: null,
  key_kind: 'server',
  source: 'server',
  ...given,
});
