// How names of Segment's world become ours: by one rule, and two names stay two where letters are lost.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventName } from '../../src/ingest/ingest.ts';
import { toEventName } from '../../src/segment_door/names.ts';

test.each([
  ['Order Completed', 'order_completed'],
  ['order_completed', 'order_completed'],
  ['orderCompleted', 'order_completed'],
  ['  Order -- Completed!  ', 'order_completed'],
  ['Évènement Créé', 'evenement_cree'],
  ['🎉 Party Started', 'party_started'],
  ['3D Model Viewed', 'event_3_d_model_viewed'],
  ['404', 'event_404'],
  ['Event', 'event'],
])('%s is %s', (given, expected) => {
  expect(toEventName(given)).toBe(expected);
});

test('a name of nothing but blanks is none', () => {
  for (const given of ['', ' ', '\n\t']) expect(toEventName(given)).toBeNull();
});

test('where letters are lost a digest tells two names apart, and each is always the same', () => {
  const given = ['Заказ оформлен', 'Заказ отменён', '注文完了', 'Заказ 1', 'Товар 1', '---', '***'];
  const names = given.map(toEventName);
  expect(new Set(names).size).toBe(given.length);
  expect(given.map(toEventName)).toEqual(names);
  for (const name of names) expect(name).toMatch(/^event_(?:1_)?[\da-f]{8}$/);
});

test('at 100 characters a name is kept, one past it is cut, with a digest', () => {
  const long = 'x'.repeat(100);
  expect(toEventName(long)).toBe(long);
  const [cut, other] = [toEventName(`${long}a`), toEventName(`${long}b`)];
  expect(cut).toHaveLength(100);
  expect(cut).not.toBe(other);
});

test('of a name of more than 400 characters the rest is a digest, however long it is', () => {
  const spaced = (chars: number) => `a${' '.repeat(chars - 2)}b`;
  expect(toEventName(spaced(400))).toBe('a_b');
  expect(toEventName(spaced(401))).toMatch(/^a_[\da-f]{8}$/);
  const [one, other] = ['a', 'b'].map((end) => toEventName('Aa'.repeat(500_000) + end));
  expect(one).toHaveLength(100);
  expect(one).not.toBe(other);
});

test('whatever the name, what comes of it is a name of ours', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string()), (given) => {
      const name = toEventName(given);
      expect(name === null || EventName.safeParse(name).success).toBe(true);
    }),
    { numRuns: 500 },
  );
});
