import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairTurns } from '../../src/http/fair_turns.ts';

/** Notes what begins in each turn of the event loop. */
const noted = (perTurn: number) => {
  const turns = new FairTurns(perTurn);
  const begun: string[] = [];
  const begin = (address: string, name: string) =>
    turns.begin(address, () => begun.push(`${address}${name}`));
  return { begun, begin };
};

test('as much as a turn has room for begins at once, and one more in the next turn', async () => {
  const { begun, begin } = noted(2);
  for (const name of ['1', '2', '3']) begin('a', name);
  expect(begun).toEqual(['a1', 'a2']);
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('addresses take turns, each in its own order', async () => {
  const { begun, begin } = noted(1);
  for (const name of ['1', '2', '3', '4']) begin('a', name);
  begin('b', '1');
  for (let at = 0; at < 4; at += 1) await turn();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('what comes while others wait does not overtake them', async () => {
  const { begun, begin } = noted(1);
  begin('a', '1');
  begin('a', '2');
  await turn();
  begin('a', '3');
  expect(begun).toEqual(['a1', 'a2']);
  await turn();
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('each that waits is called once', async () => {
  const turns = new FairTurns(1);
  let waits = 0;
  for (const address of ['a', 'b', 'c'])
    turns.begin(
      address,
      () => {},
      () => (waits += 1),
    );
  expect(waits).toBe(2);
  for (let at = 0; at < 3; at += 1) await turn();
  expect(waits).toBe(2);
});
