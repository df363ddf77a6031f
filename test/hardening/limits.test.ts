import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import type { Listening } from '../../src/http/api.ts';
import { routes } from '../../src/http/routes.ts';
import { ask, toWire } from '../http/raw_http.ts';
import { bytesMaxOf, keyOf, nameOf, pathOf, takesBody } from '../http/samples.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);

const posting = routes.filter((route) => route.method === 'POST' && takesBody(route));
const isUnpacked = (route: (typeof routes)[number]): boolean =>
  route.access !== 'webhook' && route.takesWriteKey === true;

/** Of each way in: nobody has to be there for them. */
const ALWAYS_THERE = [
  'POST /v1/events',
  'POST /v1/events/batch',
  'POST /v1/identify',
  'POST /v1/projects/:project_id/templates',
  'POST /v1/webhooks/:slug/:project_id',
];

/** Zeros pack to a thousandth. */
const bombOf = (bytes: number): Buffer => gzipSync(`{"a":"${'0'.repeat(bytes)}"}`);

test('415: a packed body is not unpacked, wherever one is not asked for', async () => {
  const body = bombOf(1024 * 1024);
  const refused = new Set<string>();
  for (const route of posting.filter((one) => !isUnpacked(one))) {
    // What is not there is not there, packed or not.
    const asked = { key: keyOf(route, api), body: {} };
    const isThere = (await api.call('POST', pathOf(route, api), asked)).status !== 404;
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip']) {
      const answer = await api.call('POST', pathOf(route, api), {
        key: keyOf(route, api),
        body,
        headers: { 'content-encoding': encoding },
      });
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), isThere ? 415 : 404]);
      if (isThere) refused.add(nameOf(route));
    }
  }
  expect([...refused]).toEqual(expect.arrayContaining(ALWAYS_THERE));
});

test('413 body_too_large: a bomb is not unpacked past the bound', async () => {
  const unpacking = posting.filter(isUnpacked);
  expect(unpacking.length).toBeGreaterThan(0);
  const body = bombOf(200 * 1024 * 1024);
  const before = process.memoryUsage().rss;
  for (const route of unpacking) {
    expect(body.length).toBeLessThan(bytesMaxOf(route));
    const answer = await api.call('POST', pathOf(route, api), {
      key: keyOf(route, api),
      body,
      headers: { 'content-encoding': 'gzip' },
    });
    expectRefusal(answer, 'body_too_large');
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024);
});

const QUICK = { ...TIMEOUTS, headersMs: 300, requestMs: 600, checkMs: 25 };
const DRIP_MS = 20;
const CONNECTIONS = 5;
const listening: Listening[] = [];
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  for (const [config, timeouts] of [
    [database.deps.config, QUICK],
    [{ ...database.deps.config, connectionsMax: CONNECTIONS }, TIMEOUTS],
  ] as const) {
    const resources = new Resources();
    const one = await openApi(
      { ...database.deps, config, resources },
      { isDraining: false },
      true,
      timeouts,
    );
    listening.push(one);
    closing.push(one.close, () => resources.close());
  }
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** Writes a byte now and then, for as long as anybody listens; answers what it was told in the end. */
const dripping = async (port: number, text: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  const told: string[] = [];
  socket.on('data', (chunk) => told.push(String(chunk))).on('error', () => {});
  let at = 0;
  const timer = setInterval(() => {
    socket.write(text.charAt(at % text.length));
    at += 1;
  }, DRIP_MS);
  await once(socket, 'close');
  clearInterval(timer);
  return told.join('');
};

test('408: who sends a byte now and then is not waited for', async () => {
  const [{ port } = { port: 0 }] = listening;
  const headers = `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(10_000)}`;
  const head = toWire({
    method: 'POST',
    path: '/v1/events',
    headers: {
      Authorization: `Bearer ${api.project.server_key}`,
      'Content-Type': 'application/json',
      'Content-Length': '100000',
    },
  });
  const told = await Promise.all([
    dripping(port, headers),
    dripping(port, head + ' '.repeat(10_000)),
  ]);
  for (const answer of told) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('so many connections, and no more; who is there is still answered', async () => {
  const [, { port } = { port: 0 }] = listening;
  const sockets: Socket[] = [];
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const healthOver = async (socket: Socket): Promise<string> => {
    socket.write(toWire({ path: '/healthz' }));
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [
      unknown,
    ];
    return String(chunk).slice(0, 12);
  };
  const refusedBefore = async (socket?: Socket): Promise<number> => {
    const parts: string[] = [];
    const read = (chunk: Buffer) => parts.push(String(chunk));
    socket?.on('data', read).write(toWire({ path: '/metrics' }));
    const count = await until('it is told', () =>
      /^trunkline_connections_refused_total (\d+)$[^]*\n$/m.exec(parts.join('')),
    );
    socket?.off('data', read);
    return Number(count[1]);
  };
  for (let at = 0; at < CONNECTIONS; at += 1)
    expect(await healthOver(await open())).toBe('HTTP/1.1 200');
  expect(await refusedBefore(sockets[0])).toBe(0);
  // One past the bound is closed without a word.
  expect(await healthOver(await open())).not.toMatch(/^HTTP/);
  const [first] = sockets;
  if (first) expect(await healthOver(first)).toBe('HTTP/1.1 200');
  // But it is counted.
  expect(await refusedBefore(first)).toBe(1);
  // Whoever leaves makes room.
  const left = first && once(first, 'close');
  first?.destroy();
  await left;
  await expect.poll(async () => healthOver(await open())).toBe('HTTP/1.1 200');
  for (const socket of sockets) socket.destroy();
});

test('what is not even HTTP costs a connection, and nothing else', async () => {
  for (const noise of [`${'A'.repeat(5_000)}\r\n\r\n`, '\u0016\u0003\u0001 hello', 'GET\r\n\r\n']) {
    const answers = await ask(api.url, noise);
    expect([noise.slice(0, 5), answers.map(({ status }) => status)]).toEqual([
      noise.slice(0, 5),
      [400],
    ]);
    expect((await api.call('GET', '/healthz')).status).toBe(200);
  }
});
