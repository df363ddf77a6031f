import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { messageKey } from '../../src/ingest/ingest.ts';
import type { MessageSpace } from '../../src/ingest/ingest.ts';
import { Keys } from '../../src/base/keys.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

/** This year lies within the accepted range whenever a test runs. */
export const YEAR = new Date().getUTCFullYear();

const keys = new Keys(Buffer.from(TEST_MASTER_KEY, 'hex'));
export const SERVER_EVENTS: MessageSpace = { keyKind: 'server', of: 'event' };
/** The key of a message id in a space. */
export const keyIn = (space: MessageSpace, messageId: string): string =>
  messageKey(keys, space, messageId);
/** The key of the message id of a server's event. */
export const keyOf = (messageId: string): string => keyIn(SERVER_EVENTS, messageId);

/** An event as the flusher stores it. */
export const newEvent = ({
  message_id: messageId,
  ...given
}: Partial<EventRow> & { message_id?: string | null } = {}): EventRow => ({
  event_id: newId(),
  message_key: messageId == null ? null : keyOf(messageId),
  name: 'user_signed_up',
  external_id: 'ann',
  anonymous_id: null,
  properties: '{}',
  occurred_at: null,
  key_kind: 'server',
  source: 'server',
  traceparent: null,
  ...given,
});
