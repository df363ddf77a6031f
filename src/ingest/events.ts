import { newId } from '../base/ids.ts';
import type { Caller } from '../base/caller.ts';
import type { Keys } from '../base/keys.ts';
import { messageKey } from './message_key.ts';
import type { Repetition } from './message_key.ts';
import type { EventInput } from './schema.ts';

/** An event as it is stored: every value a text that Postgres parses, or null. */
export type EventRow = {
  event_id: string;
  /** What its message id is known by (`message_key.ts`). */
  message_key: string | null;
  name: string;
  external_id: string | null;
  anonymous_id: string | null;
  properties: string;
  /** RFC 3339; null is the moment the database receives it. */
  occurred_at: string | null;
  /** Null of what the service itself observed. */
  key_kind: string | null;
  source: 'browser' | 'server' | 'system';
  /** The publishable key of a browser's event. */
  key_id?: string | null;
  /** How the trace of its request goes on; null where it brought none. Kept with the note of the work alone. */
  traceparent: string | null;
};

/** What a row weighs besides its texts: ids, times, and what JavaScript keeps around them. */
const ROW_BYTES = 512;
const CHAR_BYTES = 2;

/** What a row takes in memory while it waits, at most: counting is cheaper than measuring. */
export const bytesOf = (row: EventRow): number =>
  ROW_BYTES +
  CHAR_BYTES *
    (row.properties.length +
      row.name.length +
      (row.external_id?.length ?? 0) +
      (row.anonymous_id?.length ?? 0) +
      (row.traceparent?.length ?? 0));

/** About what an event takes on disk besides its texts: its row, its indexes, the note of its work. */
export const STORED_ROW_BYTES = 256;

/** Returns what an event counts as, in stored bytes. */
export const storedBytesOf = (row: EventRow): number =>
  STORED_ROW_BYTES +
  Buffer.byteLength(row.properties) +
  Buffer.byteLength(row.name) +
  Buffer.byteLength(row.external_id ?? '') +
  Buffer.byteLength(row.anonymous_id ?? '');

/** Returns the row of an event. `repetition` stands for the message id of an event that has none. */
export const toRow = (
  event: EventInput,
  caller: Caller,
  keys: Keys,
  {
    repetition,
    traceparent = null,
  }: { repetition?: Repetition | undefined; traceparent?: string | null | undefined } = {},
): EventRow => {
  const message = event.message_id ?? repetition;
  const space = { keyKind: caller.kind, of: 'event' } as const;
  return {
    event_id: newId(),
    message_key: message === undefined ? null : messageKey(keys, space, message),
    name: event.event,
    external_id: event.external_id ?? null,
    anonymous_id: event.anonymous_id ?? null,
    properties: JSON.stringify(event.properties ?? {}),
    occurred_at: event.occurred_at ?? null,
    key_kind: caller.kind,
    source: caller.kind === 'publishable' ? 'browser' : 'server',
    key_id: caller.kind === 'publishable' ? (caller.keyId ?? null) : null,
    traceparent,
  };
};
