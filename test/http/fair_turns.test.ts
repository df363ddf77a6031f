import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { REQUESTS_PER_TURN } from '../../src/http/api.ts';
import { FairTurns } from '../../src/http/fair_turns.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { toWire } from './raw_http.ts';

const api = testApi(testDatabase());

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

test('attack: requests that arrive together are begun REQUESTS_PER_TURN in a turn, and not one more', async () => {
  const request = toWire({ path: '/no-such-path' });
  const open = async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(request);
    await once(socket, 'data');
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: 2 * REQUESTS_PER_TURN + 1 }, open));
  const inTurns: number[] = [];
  let ended = 0;
  // This refusal waits for nothing: a request that begins also ends in its turn.
  const count = (): number => (ended += 1);
  subscribe('http.server.response.finish', count);
  let isOver = false;
  const answers = Promise.all(sockets.map((socket) => once(socket, 'data'))).then(
    () => (isOver = true),
  );
  for (const socket of sockets) socket.write(request);
  while (!isOver) {
    await turn();
    inTurns.push(ended);
    ended = 0;
  }
  await answers;
  unsubscribe('http.server.response.finish', count);
  for (const socket of sockets) socket.destroy();
  expect(inTurns.reduce((all, some) => all + some)).toBe(sockets.length);
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(REQUESTS_PER_TURN);
});
