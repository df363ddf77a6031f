// Providers over HTTPS that do their worst, whichever of the two: bounded time, bounded memory, and never a guess.
import type { Socket } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { cloudApi } from '../../src/providers/cloud_api.ts';
import { relayApi } from '../../src/providers/relay_api.ts';
import type { ConnectOutcome, Link, Network } from '../../src/providers/transport.ts';
import { ACCESS_KEY_ID } from '../support/cloud_sink.ts';
import { httpsSink } from '../support/https_sink.ts';
import { API_KEY } from '../support/relay_sink.ts';
import {
  behindTls,
  drip,
  dripping,
  flood,
  startRogue,
  startUnaccepting,
} from '../support/rogue.ts';
import type { Behaviour } from '../support/rogue.ts';
import { toWire } from './wire.ts';

const PATIENCE_MS = 200;
/** However busy the machine: an idle time-out that a drip resets would never fire. */
const BUFFERS_BYTES_MAX = 8 * 1024 * 1024;
const NOT_TAKEN = { kind: 'deferred', reason: 'connection_failed' };
const UNKNOWN = { kind: 'unknown' };

const networkOf = (url: string): Network => ({
  allowNetworks: ['127.0.0.0/8'],
  nameServers: new Resolver(),
  relayApiUrl: `${url}/v3`,
  cloudApiUrl: url,
  ehloName: null,
  answerTimeoutMs: 60_000,
  httpsTimeouts: { connectMs: PATIENCE_MS, headersMs: PATIENCE_MS, answerMs: 2 * PATIENCE_MS },
});

const CLOUD = {
  provider: 'cloud_api',
  region: 'eu-west-1',
  access_key_id: ACCESS_KEY_ID,
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const;
const TRANSPORTS: [string, (network: Network) => Promise<ConnectOutcome>][] = [
  [
    'relay_api',
    (network) => relayApi.connect({ provider: 'relay_api', api_key: API_KEY }, network),
  ],
  ['cloud_api', (network) => cloudApi.connect(CLOUD, network)],
];

/** A provider that waits for the start of a request, and then does this. */
const asked =
  (behave: Behaviour): Behaviour =>
  (socket) => {
    socket.once('data', () => void behave(socket));
  };
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const say =
  (text: string, then: Behaviour = () => {}): Behaviour =>
  (socket) => {
    socket.write(text);
    void then(socket);
  };
const dripOf =
  (text: string): Behaviour =>
  (socket: Socket) =>
    drip(socket, text);
const floodOf =
  (text: string): Behaviour =>
  (socket: Socket) =>
    flood(socket, text);

const links: Link[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});
const message = toWire('send-1', Buffer.from('From: hello@acme.test\r\n\r\nHello\r\n'));
const plenty = httpsSink({ usually: () => ({ status: 200, json: {} }) });

describe.each(TRANSPORTS)('%s', (_name, connect) => {
  test.each<[string, () => Promise<number>]>([
    ['nobody accepts it', startUnaccepting],
    ['TLS is not answered', async () => (await startRogue((socket) => void socket.resume())).port],
    [
      'a real handshake comes byte by byte',
      async () => (await startRogue(dripping(Number(new URL(plenty.url).port)))).port,
    ],
    ['what comes is no TLS', async () => (await startRogue(floodOf('HTTP/1.1 400 No\r\n'))).port],
  ])('not taken, to be tried again: %s', async (_what, start) => {
    const opened = await connect(networkOf(`https://127.0.0.1:${await start()}`));
    expect(opened).toMatchObject({ kind: 'failed', outcome: NOT_TAKEN });
  });

  test.each<[string, Behaviour]>([
    ['with nothing', () => {}],
    ['byte by byte', dripOf('HTTP/1.1 200 OK\r\n')],
    ['with headers byte by byte', say(HEAD, dripOf('x: y\r\n'))],
    ['with headers without end', say(HEAD, floodOf('x: y\r\n'))],
    ['with one header without end', say(HEAD, floodOf('x'))],
    ['with early hints without end', floodOf('HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n')],
    ['with a body byte by byte', say(`${HEAD}\r\n`, dripOf(' '))],
    ['with a body without end', say(`${HEAD}\r\n`, floodOf(' '))],
    [
      'in chunks without end',
      say(`${HEAD}transfer-encoding: chunked\r\n\r\n`, floodOf('1\r\n \r\n')),
    ],
    [
      'with trailers without end',
      say(`${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n`, floodOf('x: y\r\n')),
    ],
    ['with what is no HTTP', floodOf('250 ok\r\n')],
    ['with the end', (socket) => void socket.end()],
  ])('unknown: a message is answered %s', async (_what, behave) => {
    const rogue = await startRogue(await behindTls(asked(behave)));
    const opened = await connect(networkOf(`https://127.0.0.1:${rogue.port}`));
    if (opened.kind === 'failed') throw new Error(JSON.stringify(opened.outcome));
    links.push(opened.link);
    expect(await opened.link.send(message())).toEqual(UNKNOWN);
    expect(opened.link.isOpen).toBe(false);
    await expect.poll(rogue.open).toBe(0);
    expect(rogue.taken()).toBeLessThan(BUFFERS_BYTES_MAX);
  });

  test('unknown: a large message is not read to its end', async () => {
    const rogue = await startRogue(await behindTls(asked((socket) => void socket.pause())));
    const opened = await connect(networkOf(`https://127.0.0.1:${rogue.port}`));
    if (opened.kind === 'failed') throw new Error(JSON.stringify(opened.outcome));
    links.push(opened.link);
    const raw = Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(200_000));
    expect(await opened.link.send(message({ raw }))).toEqual(UNKNOWN);
  });
});
