import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { Keys } from '../../src/base/keys.ts';
import { messageKey } from '../../src/ingest/message_key.ts';

const [ours, theirs] = [new Keys(Buffer.alloc(32, 1)), new Keys(Buffer.alloc(32, 2))] as const;
const UUID_8 = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/;

test.each(['m', 'ann@example.com', 'Ümläut 💌', 'x'.repeat(255), randomUUID(), v7()])(
  'a message id is known by the same key each time, with our secret only: %s',
  (messageId) => {
    const key = messageKey(ours, messageId);
    expect(key).toMatch(UUID_8);
    expect(messageKey(ours, messageId)).toBe(key);
    expect(messageKey(theirs, messageId)).not.toBe(key);
    expect(messageKey(ours, `${messageId} `)).not.toBe(key);
  },
);

test('ids of one time stay together, and their case tells them apart as before', () => {
  const id = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
  expect(messageKey(ours, id)).toMatch(/^019a9f0c-6c00-8/);
  expect(messageKey(ours, id).slice(14)).not.toBe(messageKey(theirs, id).slice(14));
  const shouted = messageKey(ours, id.toUpperCase());
  expect(shouted).toMatch(/^019a9f0c-6c00-8/);
  expect(shouted).not.toBe(messageKey(ours, id));
  // Of another version the front is no time.
  expect(messageKey(ours, '019a9f0c-6c00-4cc3-98c4-dc0c0c07398f')).not.toMatch(/^019a9f0c/);
});
