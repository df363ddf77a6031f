import { hash } from 'node:crypto';
import type { Keys } from '../base/keys.ts';

const TIME_ORDERED = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const TIME_CHARS = 13;

/**
 * What a message id is known by: a UUID of version 8 with 120 bits that nobody can make or read back
 * without our key. So it names nobody and may outlive whoever is erased: a repeat stays a repeat.
 *
 * Of a message id that is a UUIDv7 its time stays in front, and 72 bits are left of the digest, so that ids
 * of one time lie together in the index: scattered, each of them writes a page of its own to the log after
 * every checkpoint.
 */
export const messageKey = (keys: Keys, messageId: string): string => {
  // Cut to half, a digest of key and text is no state that more text could be appended to.
  const digest = hash('sha256', keys.of('message-id').toString('hex') + messageId, 'hex');
  const front = TIME_ORDERED.test(messageId)
    ? messageId.slice(0, TIME_CHARS).toLowerCase()
    : `${digest.slice(20, 28)}-${digest.slice(28, 32)}`;
  return `${front}-8${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
};
