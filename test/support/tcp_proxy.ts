import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

/**
 * What becomes of a request that bears the mark:
 * - `pass`: nothing happens to it.
 * - `cut_request`: it never reaches the server, and the connection is lost.
 * - `hold_request`: the same, but the connection stays, and the client waits.
 * - `cut_behind`: it is sent, and the connection is cut right behind it.
 * - `cut_answer`: the server has done it and answers; the answer is lost with the connection.
 * - `hold_answer`: the same, but the connection stays, and the client waits.
 */
export const FATES = [
  'pass',
  'cut_request',
  'hold_request',
  'cut_behind',
  'cut_answer',
  'hold_answer',
] as const;
export type Fate = (typeof FATES)[number];

export type TcpProxy = {
  /** The same URL, by way of the proxy. */
  through: (url: string) => string;
  /** Decides about requests that contain `mark`, one by one. */
  decide: (mark: string, fate: () => Fate) => void;
  /** How many requests and answers did not come through, save those cut behind. */
  lost: () => number;
};

type Rule = { mark: string; fate: () => Fate };

/** Carries bytes between one client and the server, until the rule says otherwise. */
const carry = (near: Socket, far: Socket, ruleOf: () => Rule, onLost: () => void): void => {
  let fate: Fate = 'pass';
  const cut = () => {
    near.resetAndDestroy();
    far.destroy();
  };
  near.on('data', (chunk: Buffer) => {
    const { mark, fate: decide } = ruleOf();
    if (chunk.includes(mark)) fate = decide();
    if (fate === 'cut_request' || fate === 'hold_request') {
      onLost();
      if (fate === 'cut_request') cut();
      return;
    }
    far.write(chunk, () => {
      if (fate === 'cut_behind') cut();
    });
  });
  far.on('data', (chunk: Buffer) => {
    if (fate === 'cut_answer' || fate === 'hold_answer') {
      onLost();
      if (fate === 'cut_answer') cut();
      return;
    }
    near.write(chunk);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on('error', () => {}).on('close', () => other.destroy());
};

/** A way to a TCP server that loses what the test says, exactly when. */
export const tcpProxy = (target: () => string): TcpProxy => {
  let rule: Rule = { mark: '\0', fate: () => 'pass' };
  let lost = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const { hostname, port } = new URL(target());
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on('close', () => sockets.delete(socket)));
    carry(
      near,
      far,
      () => rule,
      () => (lost += 1),
    );
  });
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    through: (url) => {
      const other = new URL(url);
      other.hostname = '127.0.0.1';
      other.port = String((server.address() as AddressInfo).port);
      return other.href;
    },
    decide: (mark, fate) => {
      rule = { mark, fate };
    },
    lost: () => lost,
  };
};
