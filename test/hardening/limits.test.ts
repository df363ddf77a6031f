import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import type { Listening } from '../../src/http/api.ts';
import { PIPELINED_REQUESTS_MAX } from '../../src/http/owed_answers.ts';
import { routes } from '../../src/http/routes.ts';
import { untilWaiting } from '../base/connections.ts';
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

const json = { 'Content-Type': 'application/json' };
/** A request of a page whose body does not end. */
const unfinished = () =>
  toWire({
    method: 'POST',
    path: '/v1/events',
    headers: {
      ...json,
      Authorization: `Bearer ${api.project.publishable_key}`,
      'Content-Length': '1000',
      // The service asks for the body once it has begun to read it.
      Expect: '100-continue',
    },
    body: '{',
  });
/** Requests whose answers are more than the buffers of a connection hold. */
const unread = () => toWire({ path: '/v1/openapi.json' }).repeat(PIPELINED_REQUESTS_MAX);
const healthRequest = toWire({ path: '/healthz' });
const HEALTHY = 'HTTP/1.1 200';

/** Opens connections to the service with few of them, from an address of this machine. */
const crowd = () => {
  const [, { port } = { port: 0 }] = listening;
  const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  /** Returns the beginning of the answer; of a connection that was closed, what is not HTTP. */
  const ask = async (socket: Socket): Promise<string> => {
    if (socket.closed) return 'closed';
    socket.write(healthRequest);
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [
      unknown,
    ];
    return String(chunk).slice(0, HEALTHY.length);
  };
  const countClosed = async (socket: Socket): Promise<number> => {
    const parts: string[] = [];
    const read = (chunk: Buffer) => parts.push(String(chunk));
    socket.on('data', read).write(toWire({ path: '/metrics' }));
    const count = await until('the metrics are there', () =>
      /^trunkline_connections_closed_total (\d+)$[^]*\n$/m.exec(parts.join('')),
    );
    socket.off('data', read);
    return Number(count[1]);
  };
  return { open, ask, countClosed };
};

test('at CONNECTIONS_MAX all are kept; one past it closes the one that waits longest', async () => {
  const { open, ask, countClosed } = crowd();
  const sockets: Socket[] = [];
  for (let at = 0; at < CONNECTIONS; at += 1) {
    sockets.push(await open());
    expect(await ask(sockets[at]!)).toBe(HEALTHY);
  }
  const before = await countClosed(sockets[0]!);
  // It has just had an answer, so the second waits longest now.
  const another = await open();
  expect(await ask(another)).toBe(HEALTHY);
  await until('the second is closed', () => sockets[1]!.closed);
  for (const kept of [0, 2, 3, 4]) expect(await ask(sockets[kept]!)).toBe(HEALTHY);
  expect(await countClosed(another)).toBe(before + 1);
  // One that leaves makes room.
  sockets[0]!.destroy();
  await expect.poll(async () => ask(await open())).toBe(HEALTHY);
  for (const kept of [2, 3, 4]) expect(await ask(sockets[kept]!)).toBe(HEALTHY);
});

test('attack: an address that takes all connections shuts out no other', async () => {
  const { open, ask } = crowd();
  const server = await open('127.0.0.1');
  expect(await ask(server)).toBe(HEALTHY);
  const attack = async () => {
    const socket = await open('127.0.0.66');
    await ask(socket);
    return socket;
  };
  for (let at = 0; at < 3 * CONNECTIONS; at += 1) await attack();
  // The connection of the server is the oldest, and it is kept.
  expect(await ask(server)).toBe(HEALTHY);
  for (let at = 0; at < 2 * CONNECTIONS; at += 1) {
    const socket = await open('127.0.0.1');
    expect(await ask(socket)).toBe(HEALTHY);
    socket.destroy();
    await attack();
  }
  expect(await ask(server)).toBe(HEALTHY);
});

test.each([
  ['read no answer', unread, true],
  ['send no end of a body', unfinished, true],
  ['send no end of the headers', () => 'GET /healthz HTTP/1.1\r\nHost: a\r\n', false],
])('attack: connections that %s shut out no other address', async (_how, write, hasAnswer) => {
  const { open, ask } = crowd();
  const pin = async () => {
    const socket = await open('127.0.0.66');
    socket.write(write());
    if (hasAnswer) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.pause();
  };
  for (let at = 0; at < CONNECTIONS; at += 1) await pin();
  // It looks at requests that are under way once a second, so another address finds a place after that.
  const soon = { timeout: 10_000 };
  await expect.poll(async () => ask(await open('127.0.0.1')), soon).toBe(HEALTHY);
  for (let at = 0; at < 2 * CONNECTIONS; at += 1) {
    await pin();
    await expect.poll(async () => ask(await open('127.0.0.1')), soon).toBe(HEALTHY);
  }
});

test('a connection with a request that is under way is kept for its answer', async () => {
  const { open, ask } = crowd();
  const busy = await open();
  const body = JSON.stringify({ email: 'ann@people.test' });
  const headers = { ...json, Authorization: `Bearer ${api.project.server_key}` };
  await database.owner.query('begin');
  await database.owner.query('lock table suppression.addresses in access exclusive mode');
  busy.write(toWire({ method: 'POST', path: '/v1/suppressions', headers, body }));
  await untilWaiting(database);
  const answered = once(busy, 'data');
  for (let at = 0; at < 2 * CONNECTIONS; at += 1) expect(await ask(await open())).toBe(HEALTHY);
  await database.owner.query('rollback');
  expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 20\d /);
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
