import { newId } from '../base/ids.ts';
import type { Caller } from '../base/caller.ts';
import type { EventInput } from './schema.ts';

/** An event as it is stored: every value a text that Postgres parses, or null. */
export type EventRow = {
  event_id: string;
  message_id: string | null;
  name: string;
  external_id: string | null;
  anonymous_id: string | null;
  properties: string;
  /** RFC 3339; null is the moment the database receives it. */
  occurred_at: string | null;
  key_kind: string;
  source: 'browser' | 'server';
};

export const toRow = (event: EventInput, caller: Caller): EventRow => ({
  event_id: newId(),
  message_id: event.message_id ?? null,
  name: event.event,
  external_id: event.external_id ?? null,
  anonymous_id: event.anonymous_id ?? null,
  properties: JSON.stringify(event.properties ?? {}),
  occurred_at: event.occurred_at ?? null,
  key_kind: caller.kind,
  source: caller.kind === 'publishable' ? 'browser' : 'server',
});
