// What lies between the processes and Postgres leads elsewhere from the moment that it is told to.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { FaultProxy } from './proxy.ts';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).toReversed()) close();
});

/** A server that says its name to whoever comes, and where it is. */
const open = async (name: string): Promise<string> => {
  const server = createServer((socket) => socket.end(name)).listen(0, '127.0.0.1');
  closing.push(() => server.close());
  await once(server, 'listening');
  return `postgres://127.0.0.1:${(server.address() as AddressInfo).port}/any`;
};

/** Who answers at an address. */
const whoIsAt = async (url: string): Promise<string> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  return (await socket.toArray()).join('');
};

test('whoever comes after a move is led to the new address, at the same one', async () => {
  const [before, after] = [await open('before'), await open('after')];
  const proxy = await new FaultProxy(before).start();
  closing.push(() => proxy.close());
  const { url } = proxy;
  expect(await whoIsAt(url)).toBe('before');
  proxy.leadTo(after);
  expect(proxy.url).toBe(url);
  expect(await whoIsAt(url)).toBe('after');
});
