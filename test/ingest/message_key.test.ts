import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { Keys } from '../../src/base/keys.ts';
import { KEY_KINDS } from '../../src/base/caller.ts';
import { messageKey } from '../../src/ingest/message_key.ts';
import type { Repetition } from '../../src/ingest/message_key.ts';
import { SERVER_EVENTS } from './some_events.ts';

const [ours, theirs] = [new Keys(Buffer.alloc(32, 1)), new Keys(Buffer.alloc(32, 2))] as const;
const keyOf = (keys: Keys, message: string | Repetition, space = SERVER_EVENTS): string =>
  messageKey(keys, space, message);
const UUID_8 = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/;

test.each(['m', 'ann@example.com', 'Ümläut 💌', 'x'.repeat(255), randomUUID(), v7()])(
  'a message id is known by the same key each time, with our secret only: %s',
  (messageId) => {
    const key = keyOf(ours, messageId);
    expect(key).toMatch(UUID_8);
    expect(keyOf(ours, messageId)).toBe(key);
    expect(keyOf(theirs, messageId)).not.toBe(key);
    expect(keyOf(ours, `${messageId} `)).not.toBe(key);
  },
);

test('ids of one time stay together, and their case tells them apart as before', () => {
  const id = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
  expect(keyOf(ours, id)).toMatch(/^019a9f0c-6c00-8/);
  expect(keyOf(ours, id).slice(14)).not.toBe(keyOf(theirs, id).slice(14));
  const shouted = keyOf(ours, id.toUpperCase());
  expect(shouted).toMatch(/^019a9f0c-6c00-8/);
  expect(shouted).not.toBe(keyOf(ours, id));
  // Of another version the front is no time.
  expect(keyOf(ours, '019a9f0c-6c00-4cc3-98c4-dc0c0c07398f')).not.toMatch(/^019a9f0c/);
});

test('one message id has another key for each kind of key, for events and for identifies', () => {
  const spaces = KEY_KINDS.flatMap((keyKind) =>
    (['event', 'identify'] as const).map((of) => ({ keyKind, of })),
  );
  for (const id of ['m', v7()]) {
    const keys = spaces.map((space) => keyOf(ours, id, space));
    expect(new Set(keys).size).toBe(spaces.length);
  }
});

test('no message id has the key of a repetition, whatever it holds', () => {
  const repetition = { repetitionId: v7(), at: 3 };
  const key = keyOf(ours, repetition);
  expect(key).toMatch(UUID_8);
  expect(keyOf(ours, { ...repetition })).toBe(key);
  expect(keyOf(ours, { ...repetition, at: 4 })).not.toBe(key);
  for (const forged of [
    `idempotency-key:${repetition.repetitionId}/3`,
    `repetition\n${repetition.repetitionId}/3`,
    `${repetition.repetitionId}/3`,
    `\nrepetition\n${repetition.repetitionId}/3`,
  ])
    expect(keyOf(ours, forged)).not.toBe(key);
});
