import { Resolver } from 'node:dns/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { getText } from '../../src/base/get_text.ts';
import type { Asking } from '../../src/base/get_text.ts';
import { httpsSink } from '../support/https_sink.ts';
import type { HttpAction } from '../support/https_sink.ts';
import { behindTls, drip, startRogue, startUnaccepting } from '../support/rogue.ts';

const usually = () => ({ status: 200, text: 'hello' });
const sink = httpsSink({ usually });
const elsewhere = httpsSink({ usually });
const misnamed = httpsSink({ usually, hosts: ['localhost'] });
const strangers = httpsSink({ usually, trusted: false });
const plain = httpsSink({ usually, secure: false });
beforeEach(() => sink.reset());

const PATIENCE_MS = 200;
const UNREACHABLE = { kind: 'unreachable' };
const REFUSED = { kind: 'refused' };

const get = (base: string, given: Partial<Asking> = {}) =>
  getText({
    url: new URL('/some.pem?at=1', base),
    via: null,
    allowNetworks: ['127.0.0.0/8'],
    nameServers: new Resolver(),
    timeoutMs: PATIENCE_MS,
    bytesMax: 1_000,
    ...given,
  });
const play = (action: HttpAction) => {
  sink.play('/some.pem?at=1', action);
  return get(sink.url);
};

test('the text of an address, asked for by its own name, over a connection of its own', async () => {
  expect(await get(sink.url, { timeoutMs: 5_000 })).toEqual({ kind: 'text', text: 'hello' });
  const url = new URL('https://sns.eu-west-1.amazonaws.com/some.pem');
  const via = { url, via: sink.url, timeoutMs: 5_000 };
  expect(await get(sink.url, via)).toEqual({ kind: 'text', text: 'hello' });
  expect(sink.requests.map(({ method, path, headers }) => [method, path, headers.host])).toEqual([
    ['GET', '/some.pem?at=1', new URL(sink.url).host],
    ['GET', '/some.pem', 'sns.eu-west-1.amazonaws.com'],
  ]);
});

test('as long as it may be, and refused when it is a byte longer', async () => {
  const text = (length: number) => play({ status: 200, text: 'x'.repeat(length) });
  expect(await text(1_000)).toMatchObject({ kind: 'text' });
  sink.reset();
  expect(await text(1_001)).toEqual(REFUSED);
});

describe('nobody is asked', () => {
  test('at a closed address, or without TLS outside the networks that the operator listed', async () => {
    const before = [sink.connections, plain.connections];
    expect(await get(sink.url, { allowNetworks: [] })).toEqual(UNREACHABLE);
    expect(await get(plain.url, { allowNetworks: ['10.0.0.0/8'] })).toEqual(UNREACHABLE);
    expect([sink.connections, plain.connections]).toEqual(before);
    expect(await get(plain.url)).toEqual({ kind: 'text', text: 'hello' });
  });

  test('who has no certificate of that name, or one that nobody vouches for', async () => {
    expect(await get(misnamed.url)).toEqual(UNREACHABLE);
    expect(await get(strangers.url)).toEqual(UNREACHABLE);
    expect([misnamed.requests, strangers.requests]).toEqual([[], []]);
  });
});

test.each<[HttpAction, object]>([
  [{ status: 302, headers: { location: 'https://127.0.0.1:1/' } }, REFUSED],
  [{ status: 404, text: 'no' }, REFUSED],
  [{ status: 204 }, REFUSED],
  [{ status: 429, text: 'no' }, UNREACHABLE],
  [{ status: 500, text: 'no' }, UNREACHABLE],
  ['endless', REFUSED],
  ['drop', UNREACHABLE],
  ['hang', UNREACHABLE],
  ['truncate', UNREACHABLE],
  ['drip', UNREACHABLE],
])('%j', async (action, got) => {
  expect(await play(action)).toEqual(got);
  expect(elsewhere.requests).toEqual([]);
});

test('its time is for everything together, however busy the other side looks', async () => {
  expect(await get(`https://127.0.0.1:${await startUnaccepting()}`)).toEqual(UNREACHABLE);
  const rogue = await startRogue(await behindTls((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n')));
  expect(await get(`https://127.0.0.1:${rogue.port}`)).toEqual(UNREACHABLE);
  await expect.poll(rogue.open).toBe(0);
});
