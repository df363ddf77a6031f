import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openApi } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import { PIPELINED_REQUESTS_MAX } from '../../src/http/owed_answers.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { ask, exchange, toAnswers, toWire } from './raw_http.ts';

const database = testDatabase();
const QUICK = { ...TIMEOUTS, headersMs: 150, requestMs: 300, keepAliveMs: 100, checkMs: 50 };
const api = testApi(database);

const close = { Connection: 'close' };
const json = { 'Content-Type': 'application/json' };
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const lastHealth = toWire({ path: '/healthz', headers: close });

const post = (headers: Record<string, string> = {}, body = '') =>
  toWire({
    method: 'POST',
    path: '/v1/events',
    headers: { ...json, ...bearer(api.project.publishable_key), ...headers },
    body,
  });
const event = (name: string) => JSON.stringify({ event: name, external_id: 'ann' });
const inChunks = (body: string) =>
  `${body.replaceAll(/.{1,65536}/gs, (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)}0\r\n\r\n`;
const statuses = (answers: Answer[]) => answers.map(({ status }) => status);
const countEvents = async (name: string): Promise<number> => {
  const { rows } = await database.owner.query(
    'select count(*)::int as n from ingest.events where name = $1',
    [name],
  );
  return rows[0].n;
};
const refusedOnly = ([answer, ...more]: Answer[], name: Parameters<typeof expectRefusal>[1]) => {
  expect(more).toEqual([]);
  if (!answer) throw new Error('no answer');
  expectRefusal(answer, name);
  expect(answer.headers.get('connection')).toBe('close');
};

describe('400 invalid_request, in the one shape', () => {
  test.each([
    ['garbage', 'hello\r\n\r\n'],
    ['bytes of TLS', Buffer.from('1603010200010001fc0303', 'hex')],
    ['a method that HTTP does not know', 'FOO /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HTTP/2 without negotiation', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a tunnel', 'CONNECT evil:25 HTTP/1.1\r\nHost: evil:25\r\n\r\n'],
    ['a header that is none', 'GET /healthz HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    ['a negative length', 'POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length and chunks',
      'POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    refusedOnly(await ask(api.url, bytes), 'invalid_request');
  });

  test.each([
    ['alone', () => ''],
    ['after a request that is not answered yet', () => post({}, event('before_a_tunnel'))],
  ])('attack: a tunnel that is reset, %s, ends no process', async (_how, before) => {
    const tunnel = `${before()}CONNECT evil:25 HTTP/1.1\r\nHost: evil:25\r\n\r\n`;
    const { hostname, port } = new URL(api.url);
    for (let at = 0; at < 20; at += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(tunnel, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect(statuses(await ask(api.url, lastHealth))).toEqual([200]);
  });

  test('HTTP/1.1 without Host', async () => {
    const [answer] = await ask(api.url, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer && expectRefusal(answer, 'invalid_request')).toEqual([]);
  });

  test.each(['gzip, chunked', 'gzip', 'chunked, chunked', 'identity'])(
    'a body that goes by %s, of which the last is what Node looks at',
    async (coding) => {
      const head = post({ 'Transfer-Encoding': coding, ...close });
      const [answer] = await ask(api.url, head + inChunks(event('was_packed')));
      expect(answer?.status).toBe(400);
      expect(answer?.body.error).toBe('invalid_request');
      expect(await countEvents('was_packed')).toBe(0);
    },
  );

  test('202: chunks by any spelling of their name', async () => {
    const head = post({ 'Transfer-Encoding': 'Chunked', ...close });
    const answers = await ask(api.url, head + inChunks(event('came_in_pieces')));
    expect(statuses(answers)).toEqual([202]);
  });

  test.each([
    ['who asks', () => `Authorization: Bearer ${api.project.server_key}\r\n`, 'authorization'],
    ['whom it asks', () => 'Host: elsewhere\r\n', 'host'],
    ['of which type the body is', () => 'Content-Type: text/plain\r\n', 'content-type'],
  ])('a request that says twice %s', async (_what, second, name) => {
    const request = post(close, event('said_twice'));
    const twice = request.replace('Host: localhost\r\n', () => `Host: localhost\r\n${second()}`);
    const [answer] = await ask(api.url, twice);
    expect(answer && expectRefusal(answer, 'invalid_request')).toEqual([]);
    expect(answer?.body.detail).toContain(name);
    expect(await countEvents('said_twice')).toBe(0);
  });

  test('chunks that break off in the middle of a request', async () => {
    const head = post({ 'Transfer-Encoding': 'chunked' });
    refusedOnly(await ask(api.url, `${head}5\r\n{"eve\r\nZZ\r\n\r\n`), 'invalid_request');
  });
});

describe('a refusal on a connection is the answer to nothing else', () => {
  test('202: an event that is stored is answered so, whatever follows it', async () => {
    for (const rest of [
      'garbage\r\n\r\n',
      `${post({ 'Transfer-Encoding': 'chunked' })}ZZ\r\n\r\n`,
    ]) {
      const before = await countEvents('came_first');
      const answers = await ask(api.url, post({}, event('came_first')) + rest);
      expect(statuses(answers)).toEqual([202, 400]);
      expect(await countEvents('came_first')).toBe(before + 1);
    }
  });

  test('the answers of three requests in one write come in their order', async () => {
    const answers = await ask(
      api.url,
      post({}, event('one_of_three')) + post({}, '{') + lastHealth,
    );
    expect(statuses(answers)).toEqual([202, 400, 200]);
  });

  test.each([
    ['401', { Authorization: 'Bearer wrong' }, 401],
    ['415', { 'Content-Type': 'text/plain' }, 415],
    ['413', {}, 413],
  ])('%s: a refused body is not read as requests', async (_what, headers, status) => {
    const smuggled = post({}, event('was_smuggled'));
    const body = smuggled + ' '.repeat(1_100_000) + smuggled;
    const answers = await ask(api.url, post(headers, body) + lastHealth);
    expect(statuses(answers)).toEqual([status, 200]);
    expect(await countEvents('was_smuggled')).toBe(0);
  });

  test('413 body_too_large: one byte past the bound is found out in chunks, too', async () => {
    const send = (bytes: number) => {
      const body = inChunks(event('came_in_chunks').padEnd(bytes));
      return ask(api.url, post({ 'Transfer-Encoding': 'chunked' }) + body + lastHealth);
    };
    const bytesMax = 1024 * 1024;
    expect(statuses(await send(bytesMax))).toEqual([202, 200]);
    expect(statuses(await send(bytesMax + 1))).toEqual([413, 200]);
    expect(await countEvents('came_in_chunks')).toBe(1);
  });

  test('413 body_too_large: what will not end is not waited for', async () => {
    const head = post({ 'Content-Length': String(64 * 1024 * 1024) });
    refusedOnly(await ask(api.url, head + ' '.repeat(100_000)), 'body_too_large');
  });

  test('413 body_too_large: a client that writes everything before it reads has its answer', async () => {
    const text = await exchange(api.url, post(close, ' '.repeat(3 * 1024 * 1024)));
    expect(statuses(toAnswers(text))).toEqual([413]);
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (headers: Record<string, string>) =>
    post({ Expect: '100-continue', ...close, ...headers });

  test('202: the body is asked for, then answered', async () => {
    const body = event('was_expected');
    const text = await exchange(
      api.url,
      expecting({ 'Content-Length': String(body.length) }),
      body,
    );
    const go = 'HTTP/1.1 100 Continue\r\n\r\n';
    expect(text.startsWith(go)).toBe(true);
    expect(statuses(toAnswers(text.slice(go.length)))).toEqual([202]);
  });

  test('401, 413, 415: a body that would be refused is not asked for', async () => {
    const length = { 'Content-Length': '10' };
    refusedOnly(await ask(api.url, expecting({ ...length, Authorization: 'x' })), 'invalid_token');
    refusedOnly(
      await ask(api.url, expecting({ ...length, 'Content-Type': 'text/plain' })),
      'unsupported_media_type',
    );
    refusedOnly(
      await ask(api.url, expecting({ 'Content-Length': String(2 * 1024 * 1024) })),
      'body_too_large',
    );
  });

  test('202: an expectation that nobody knows is not one', async () => {
    const answers = await ask(
      api.url,
      post({ Expect: 'miracles', ...close }, event('was_expected')),
    );
    expect(statuses(answers)).toEqual([202]);
  });
});

test('200: a GET may have a body, which nobody reads', async () => {
  const get = toWire({
    path: '/v1/sends',
    headers: { ...json, ...bearer(api.project.server_key) },
    body: post({}, event('was_smuggled')),
  });
  expect(statuses(await ask(api.url, get + lastHealth))).toEqual([200, 200]);
  expect(await countEvents('was_smuggled')).toBe(0);
});

describe('408 request_timeout', () => {
  const withQuickApi = async (use: (url: string) => Promise<void>): Promise<void> => {
    const quick = await openApi(database.deps, { isDraining: false }, true, QUICK);
    await use(`http://127.0.0.1:${quick.port}`);
    await quick.close();
  };

  test('headers that do not come to an end', () =>
    withQuickApi(async (url) => {
      refusedOnly(await ask(url, 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-'), 'request_timeout');
    }));

  test('a body that does not come to an end', () =>
    withQuickApi(async (url) => {
      refusedOnly(await ask(url, post({ 'Content-Length': '10' }), '{"a'), 'request_timeout');
    }));

  test('nothing at all', () =>
    withQuickApi(async (url) => {
      refusedOnly(await ask(url, '\r\n'), 'request_timeout');
    }));

  test('a client that does not hang up is hung up on', () =>
    withQuickApi(async (url) => {
      const socket = connect({
        port: Number(new URL(url).port),
        host: '127.0.0.1',
        allowHalfOpen: true,
      });
      socket.on('error', () => {});
      socket.write('garbage\r\n\r\n');
      const writing = setInterval(() => socket.write('more'), 50);
      await new Promise((resolve) => socket.once('close', resolve).resume());
      clearInterval(writing);
    }));

  test('a connection without requests is closed without a word', () =>
    withQuickApi(async (url) => {
      expect(statuses(await ask(url, toWire({ path: '/healthz' })))).toEqual([200]);
    }));
});

describe('attack: thousands of requests on one connection', () => {
  const MANY = 2_000;

  test('ten are answered, and no other is read', async () => {
    const name = 'was_pipelined';
    const answers = await ask(api.url, post({}, event(name)).repeat(MANY));
    expect(statuses(answers)).toEqual(Array(PIPELINED_REQUESTS_MAX).fill(202));
    expect(answers.at(-1)?.headers.get('connection')).toBe('close');
    expect(await countEvents(name)).toBe(PIPELINED_REQUESTS_MAX);
  });

  test('also where each is refused at once', async () => {
    const refused = toWire({ path: '/no-such-path' }).repeat(MANY);
    const answers = await ask(api.url, refused);
    expect(statuses(answers)).toEqual(Array(PIPELINED_REQUESTS_MAX).fill(404));
  });

  test('the rest of what was read is not even parsed', async () => {
    let parsed = 0;
    const count = (): number => (parsed += 1);
    subscribe('http.server.request.start', count);
    await ask(api.url, toWire({ path: '/no-such-path' }).repeat(MANY));
    unsubscribe('http.server.request.start', count);
    expect(parsed).toBe(PIPELINED_REQUESTS_MAX + 1);
  });

  test('one after the other they are answered, as many as come', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    let text = '';
    for (let at = 1; at <= 3 * PIPELINED_REQUESTS_MAX; at += 1) {
      socket.write(toWire({ path: '/healthz' }));
      while (text.split('HTTP/1.1 200').length - 1 < at)
        text += String((await once(socket, 'data'))[0]);
    }
    socket.destroy();
    expect(text).not.toContain('Connection: close');
  });

  test('each connection has its own share: others are answered meanwhile', async () => {
    const refused = toWire({ method: 'POST', path: '/v1/events', headers: json }).repeat(MANY);
    const [first, second] = await Promise.all([ask(api.url, refused), ask(api.url, lastHealth)]);
    expect(first).toHaveLength(PIPELINED_REQUESTS_MAX);
    expect(statuses(second)).toEqual([200]);
  });
});
