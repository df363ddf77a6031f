// Bodies in many small chunks: each chunk costs a call, however small it is.
import { once } from 'node:events';
import { get, IncomingMessage } from 'node:http';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CHUNK_BYTES_MIN, SMALL_CHUNKS_MAX } from '../../src/base/bodies/bodies.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { inChunks, postChunks, singleBytes } from './in_chunks.ts';
import { ask, exchange, toWire } from './raw_http.ts';

const api = testApi(testDatabase());

const BYTES_MAX = singleBytes(SMALL_CHUNKS_MAX);
const MANY = 200_000;
const PACKET_BYTES = 64 * 1024;
/** A stack costs more than a chunk. */
const DEPTH_EVERY = 100;
const DETAIL = `chunks of at least ${CHUNK_BYTES_MIN} bytes`;
const post = (key: string | null, body: string) => postChunks(api.url, key, body);
const spaces = (count: number): string => `${'1\r\n \r\n'.repeat(count)}0\r\n\r\n`;
const inMany = (path: string, headers: Record<string, string> = {}, method = 'POST'): string =>
  toWire({
    method,
    path,
    headers: {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
      ...headers,
    },
  });

/** What the server answers until it closes the connection, and the statuses in it. */
const answersTo = async (...parts: string[]): Promise<{ text: string; statuses: number[] }> => {
  const text = await exchange(api.url, ...parts);
  return {
    text,
    statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
  };
};

/** How many chunks the parsers have given to bodies, from how deep in the stack, and for which connections. */
const seen = { chunks: 0, depths: new Set<number>(), sockets: new Set<Socket>() };
const depthOfStack = (): number => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const { stack = '' } = new Error('depth');
  Error.stackTraceLimit = limit;
  return stack.split('\n').length;
};
const see = (message: unknown): void => {
  seen.sockets.add((message as { socket: Socket }).socket);
};
beforeEach(() => {
  Object.assign(seen, { chunks: 0, depths: new Set(), sockets: new Set() });
  // oxlint-disable-next-line typescript/unbound-method -- called with the request as `this` below
  const push = IncomingMessage.prototype.push;
  vi.spyOn(IncomingMessage.prototype, 'push').mockImplementation(function pushSeen(
    this: IncomingMessage,
    chunk: unknown,
  ) {
    if (chunk !== null) seen.chunks += 1;
    if (chunk !== null && seen.chunks % DEPTH_EVERY === 1) seen.depths.add(depthOfStack());
    return push.call(this, chunk);
  });
  subscribe('http.server.request.start', see);
});
afterEach(() => {
  vi.restoreAllMocks();
  unsubscribe('http.server.request.start', see);
});

test('at the bound single bytes are taken, and one past it they are refused', async () => {
  const { server_key: key } = api.project;
  const [taken] = await post(key, inChunks(BYTES_MAX, 1));
  expect(taken?.status).toBe(202);
  const [refused] = await post(key, inChunks(BYTES_MAX + 1, 1));
  expect(refused?.status).toBe(400);
  expect(refused?.body.detail).toContain(DETAIL);
});

test('larger chunks are taken, however many', async () => {
  const body = inChunks(3 * SMALL_CHUNKS_MAX, CHUNK_BYTES_MIN);
  const [answer] = await post(api.project.server_key, body);
  // The whole body is read: its property is longer than it may be.
  expect(answer?.body.issues).toMatchObject([{ path: '/properties/x' }]);
});

describe('attack: 200,000 chunks of one byte in one go', () => {
  const bearer = () => ({ Authorization: `Bearer ${api.project.server_key}` });
  const packed = { 'Content-Encoding': 'gzip' };
  const host = () => ({ Host: new URL(api.url).host });
  const ways: [string, number, () => string][] = [
    ['an endpoint', 400, () => inMany('/v1/events', bearer())],
    ['a packed body', 400, () => inMany('/segment/v1/batch', { ...bearer(), ...packed })],
    ['a webhook', 400, () => inMany(`/v1/webhooks/mailgun/${api.project.project_id}`)],
    ["the Console's door", 400, () => inMany('/admin/trpc/session.signIn', host())],
    ['a body that is discarded', 401, () => inMany('/v1/events', { Authorization: 'Bearer x' })],
    ['a path that is not there', 404, () => inMany('/nothing')],
    ['an answer that needs no body', 200, () => inMany('/healthz', {}, 'GET')],
  ];

  test.each(ways)('%s: %d, and the rest is not parsed', async (_what, status, head) => {
    const { text, statuses } = await answersTo(head() + spaces(MANY));
    expect(statuses).toEqual([status]);
    if (status === 400) {
      expect(text).toContain('invalid_request');
      expect(text).toContain(DETAIL);
    }
    expect(seen.chunks).toBeLessThanOrEqual(BYTES_MAX);
    const [socket, ...others] = seen.sockets;
    expect(others).toEqual([]);
    expect(socket?.bytesRead).toBeLessThan(2 * PACKET_BYTES);
    expect(socket?.destroyed).toBe(true);
  });

  test('they leave others their turns', async () => {
    const flood = Array.from({ length: 20 }, () => answersTo(inMany('/v1/events') + spaces(MANY)));
    const health = toWire({ path: '/healthz', headers: { Connection: 'close' } });
    const [answer] = await ask(api.url, health);
    expect(answer?.status).toBe(200);
    for (const { statuses } of await Promise.all(flood)) expect(statuses).toEqual([401]);
    expect(seen.chunks).toBeLessThanOrEqual(20 * BYTES_MAX);
  });
});

describe('several requests of one connection', () => {
  const CHUNKS = SMALL_CHUNKS_MAX - 100;
  const one = inMany('/nothing') + spaces(CHUNKS);

  test('those that arrive together have the small chunks of one', async () => {
    const { text, statuses } = await answersTo(one.repeat(9));
    expect(statuses).toEqual([404, 404]);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('Connection: close');
    expect(seen.chunks).toBeLessThanOrEqual(BYTES_MAX);
  });

  test('one after the other each has its own', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    let text = '';
    for (let at = 1; at <= 3; at += 1) {
      socket.write(one);
      while (text.split('HTTP/1.1 404').length - 1 < at)
        text += String((await once(socket, 'data'))[0]);
    }
    socket.destroy();
    expect(seen.chunks).toBe(3 * CHUNKS);
    expect(text).not.toContain('Connection: close');
  });
});

describe('Node lends a parser to one connection after another', () => {
  const refuseOne = async () => {
    const { statuses } = await answersTo(inMany('/nothing') + spaces(MANY));
    expect(statuses).toEqual([404]);
  };

  test('after a refused body the bodies of a hundred connections are taken, each by as many calls', async () => {
    await refuseOne();
    for (let at = 0; at < 100; at += 1) {
      const [taken] = await post(api.project.server_key, inChunks(100, 1));
      expect(taken?.status).toBe(202);
    }
    expect(seen.chunks).toBe(BYTES_MAX + 100 * 100);
    expect(seen.depths.size).toBe(1);
  });

  test('the answer of another server may come in as many small chunks as it likes', async () => {
    const other = createServer((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${spaces(5_000)}`);
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    await refuseOne();
    const [answer] = await once(get({ port: (other.address() as AddressInfo).port }), 'response');
    let bytes = 0;
    for await (const chunk of answer as IncomingMessage) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(5_000);
    other.close();
  });
});
