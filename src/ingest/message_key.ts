import { hash } from 'node:crypto';
import type { KeyKind } from '../base/caller.ts';
import type { Keys } from '../base/keys.ts';

/** What a message id is the id of, and which kind of key sent it. Ids of different spaces never meet. */
export type MessageSpace = { keyKind: KeyKind; of: 'event' | 'identify' };

/** Where a message without an id stands in a request with an Idempotency-Key: the same at each try. */
export type Repetition = { repetitionId: string; at: number };

const TIME_ORDERED = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const TIME_CHARS = 13;

/** Returns a text that differs between ids of clients and of repetitions, so that no client can forge the latter. */
const textOf = (message: string | Repetition): string =>
  typeof message === 'string'
    ? `message\n${message}`
    : `repetition\n${message.repetitionId}/${message.at}`;

/**
 * Returns the key of a message id: a UUID of version 8 with 120 bits that only our secret can make, and that reveals
 * no id. So the key may outlive an erased person: a repeat stays a repeat.
 *
 * The digest covers the kind of key and the kind of message. A publishable key is public, so the ids that it sends
 * must not use up those of a server, and no answer may hold the event id of another kind of key.
 *
 * For a UUIDv7 the key begins with the id's time, and 72 bits of the digest remain. Ids of one time then lie together
 * in the index. Scattered ids would each write a page of their own to the log after every checkpoint.
 */
export const messageKey = (
  keys: Keys,
  { keyKind, of }: MessageSpace,
  message: string | Repetition,
): string => {
  const said = `${keyKind}\n${of}\n${textOf(message)}`;
  // Half of a digest is no state that more text could be appended to, so a keyed prefix is enough.
  const digest = hash('sha256', keys.of('message-key').toString('hex') + said, 'hex');
  const front =
    typeof message === 'string' && TIME_ORDERED.test(message)
      ? message.slice(0, TIME_CHARS).toLowerCase()
      : `${digest.slice(20, 28)}-${digest.slice(28, 32)}`;
  return `${front}-8${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
};
