import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Requests over one kept connection, one at a time, at next to no cost of the client's own. */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #settle: { resolve: (status: number) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text) => this.#read(String(text)));
    socket.on('error', (error) => this.#settle?.reject(error));
    socket.on('close', () => this.#settle?.reject(new Error('the connection was closed')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)));
      socket.once('error', reject);
    });
  }

  /** Sends a whole request; answers the status once the whole answer is here. */
  send(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** An answer ends where its content-length says; no answer of a JSON route is chunked. */
  #read(text: string): void {
    this.#received += text;
    const headers = this.#received.indexOf('\r\n\r\n');
    if (headers < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received);
    if (this.#received.length < headers + 4 + Number(length?.[1] ?? 0)) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#settle?.resolve(status);
  }
}

export type Load = { port: number; connections: number; path: string; token: string };

/** A POST as bytes on the wire. */
export const toRequest = ({ path, token }: Pick<Load, 'path' | 'token'>, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const expectAccepted = (status: number): void => {
  if (status !== 202) throw new Error(`a request was answered ${status}`);
};

const withConnections = async <T>(
  { port, connections }: Pick<Load, 'port' | 'connections'>,
  work: (open: Connection[]) => Promise<T>,
): Promise<T> => {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  try {
    return await work(open);
  } finally {
    for (const connection of open) connection.close();
  }
};

export type Stop = { afterMs: number } | { afterRequests: number };

/** Every connection asks again as soon as it is answered. Answers requests per second. */
export const askAsFastAsAnswered = (
  load: Load,
  nextBody: () => string,
  stop: Stop,
): Promise<number> =>
  withConnections(load, async (open) => {
    const startedAt = performance.now();
    let [sent, done] = [0, 0];
    const goesOn = (): boolean =>
      'afterMs' in stop ? performance.now() - startedAt < stop.afterMs : sent < stop.afterRequests;
    await Promise.all(
      open.map(async (connection) => {
        while (goesOn()) {
          sent += 1;
          expectAccepted(await connection.send(toRequest(load, nextBody())));
          done += 1;
        }
      }),
    );
    return (done / (performance.now() - startedAt)) * 1_000;
  });

export type Pace = { perSecond: number; forMs: number };

/**
 * Does something at a steady pace, in so many lanes, whether or not what was due before is done. Answers milliseconds
 * from when each was due to its end, so that a stall is seen by everybody who would have waited.
 */
export const doAtPace = async (
  lanes: readonly (() => Promise<unknown>)[],
  { perSecond, forMs }: Pace,
): Promise<number[]> => {
  const startedAt = performance.now();
  const count = Math.floor((perSecond * forMs) / 1_000);
  const latencies: number[] = [];
  let next = 0;
  await Promise.all(
    lanes.map(async (work) => {
      for (let at = next++; at < count; at = next++) {
        const dueAt = startedAt + (at * 1_000) / perSecond;
        const earlyMs = dueAt - performance.now();
        if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
        await work();
        latencies.push(performance.now() - dueAt);
      }
    }),
  );
  return latencies;
};

/** Requests at a steady pace: milliseconds from when each was due to its answer. */
export const askAtPace = (load: Load, nextBody: () => string, pace: Pace): Promise<number[]> =>
  withConnections(load, (open) =>
    doAtPace(
      open.map((connection) => async () => {
        expectAccepted(await connection.send(toRequest(load, nextBody())));
      }),
      pace,
    ),
  );
