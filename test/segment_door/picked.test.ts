// What a call holds besides what is read of it is dropped when it is parsed: it may wait for the database for seconds.
import { expect, test } from 'vitest';
import { BatchBody, CallBody } from '../../src/segment_door/schema.ts';

const read = {
  type: 'identify',
  userId: 'ann',
  traits: { plan: 'pro', nested: { a: [1] } },
  messageId: 'm-1',
};
const around = { locale: 'de', campaign: { name: 'spring' }, traits: { city: 'Bern' } };
const junk = Array.from({ length: 1_000 }, () => ({}));
const call = {
  ...read,
  context: { ...around, library: { name: 'x' }, junk },
  integrations: junk,
  writeKey: 'key',
};

test('of a call, and of its context', () => {
  expect(CallBody.parse(call)).toEqual({ ...read, context: around });
  expect(CallBody.parse(read)).toEqual(read);
  expect(CallBody.parse({ context: null })).toEqual({ context: null });
  expect(CallBody.parse({ context: [junk] })).toEqual({ context: [junk] });
});

test('of each call of a batch, and of the batch', () => {
  const sentAt = '2026-01-31T12:00:00Z';
  expect(BatchBody.parse({ batch: [call, 'nonsense', null, [1]], sentAt, context: junk })).toEqual({
    batch: [{ ...read, context: around }, 'nonsense', null, [1]],
    sentAt,
  });
});

test('a member that every object has is none of a call', () => {
  const forged = JSON.parse('{"__proto__":{"userId":"eve"},"event":"A"}') as object;
  expect(CallBody.parse(forged)).toEqual({ event: 'A' });
});
