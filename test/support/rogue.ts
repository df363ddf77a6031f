// Counterparts that keep to no protocol: what they do with a connection is up to the test, byte by byte.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

import { createSecureContext, TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';

export type Rogue = {
  port: number;
  /** How many connections are open. */
  open: () => number;
  /** How many bytes all connections together took from it. */
  taken: () => number;
};

export type Behaviour = (socket: Socket) => void | Promise<void>;

/** Writes a byte at a time, each before an idle time-out would fire, as long as anybody listens. */
export const drip = (socket: Socket, text: string, everyMs = 10): void => {
  let at = 0;
  const timer = setInterval(() => {
    socket.write(text.charAt(at % text.length));
    at += 1;
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
};

/** Writes without end, as fast as it is taken. */
export const flood = (socket: Socket, text: string): void => {
  const block = Buffer.from(text.repeat(Math.ceil(16_384 / text.length)));
  const pour = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', pour);
  pour();
};

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** A server on a port of its own that does this with whoever connects. */
export const startRogue = async (behave: Behaviour): Promise<Rogue> => {
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .once('close', () => {
        sockets.delete(socket);
        taken += socket.bytesWritten;
      });
    void behave(socket);
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port, open: () => sockets.size, taken: () => taken };
};

/** The same behind TLS, with a certificate that this process trusts. */
export const behindTls = async (behave: Behaviour): Promise<Behaviour> => {
  const { ca, cert, key } = await makeCertificate(['127.0.0.1']);
  trustAuthority(ca);
  onTestFinished(() => distrustAuthority(ca));
  const secureContext = createSecureContext({ cert, key });
  return (plain) => {
    const socket = new TLSSocket(plain, { isServer: true, secureContext });
    socket.on('error', () => {});
    void behave(socket);
  };
};

/** Passes on what a server says a byte at a time, so that even a handshake takes long. */
export const dripping =
  (port: number, everyMs = 10): Behaviour =>
  (near) => {
    const far = connect(port, '127.0.0.1');
    const waiting: number[] = [];
    far.on('error', () => {}).on('data', (chunk: Buffer) => waiting.push(...chunk));
    near.on('data', (chunk: Buffer) => far.write(chunk));
    const timer = setInterval(() => {
      const byte = waiting.shift();
      if (byte !== undefined) near.write(Buffer.from([byte]));
    }, everyMs);
    near.once('close', () => {
      clearInterval(timer);
      far.destroy();
    });
  };

const NEVER_ACCEPTS = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;
/** As many as may wait to be accepted, and one more. */
const WAITING = 3;

/** A port whose queue is full: whoever connects is not answered at all, as behind a firewall that drops. */
export const startUnaccepting = async (): Promise<number> => {
  const worker = new Worker(NEVER_ACCEPTS, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const filling = Array.from({ length: WAITING }, () => connect(port, '127.0.0.1'));
  for (const socket of filling) socket.on('error', () => {});
  await Promise.race(filling.map((socket) => once(socket, 'connect')));
  onTestFinished(async () => {
    for (const socket of filling) socket.destroy();
    await worker.terminate();
  });
  return port;
};
