import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { toOrigin } from '../base/origin.ts';
import type { OwedAnswers } from './owed_answers.ts';

/** The connections that wait for a request, by origin (base/origin.ts). */
class Waiting {
  /** Of each origin, the connection that waits longest first. */
  readonly #ofOrigin = new Map<string, Set<Socket>>();
  /** At each place the origins with so many waiting connections. The last place is never empty. */
  readonly #withCount: Set<string>[] = [];

  add(origin: string, socket: Socket): void {
    const sockets = this.#ofOrigin.get(origin) ?? new Set();
    if (sockets.has(socket)) return;
    this.#ofOrigin.set(origin, sockets.add(socket));
    this.#place(origin, sockets.size - 1, sockets.size);
  }

  remove(origin: string, socket: Socket): void {
    const sockets = this.#ofOrigin.get(origin);
    if (!sockets?.delete(socket)) return;
    if (sockets.size === 0) this.#ofOrigin.delete(origin);
    this.#place(origin, sockets.size + 1, sockets.size);
  }

  /** Returns the connection that waits longest, of the origin with most of them. */
  findLongest(): Socket | undefined {
    const [origin = ''] = this.#withCount.at(-1) ?? [];
    const [longest] = this.#ofOrigin.get(origin) ?? [];
    return longest;
  }

  #place(origin: string, before: number, count: number): void {
    this.#withCount[before]?.delete(origin);
    if (count > 0) (this.#withCount[count] ??= new Set()).add(origin);
    while (this.#withCount.length > 0 && !this.#withCount.at(-1)?.size) this.#withCount.pop();
  }
}

/**
 * Keeps a process to `connectionsMax` connections. Where one more arrives, the process closes one that waits for a
 * request, the new one included: the one that waits longest, of the origin with most of them. So an origin that takes
 * all connections makes room for others out of its own. A connection with a request that was not answered is kept.
 */
export class Connections {
  readonly #connectionsMax: number;
  readonly #onClosed: () => void;
  readonly #waiting = new Waiting();
  /** The origin of each open connection: Node forgets the address of one that is closed. */
  readonly #origins = new Map<Socket, string>();

  /** Calls `onClosed` for each connection that it closes for want of room. */
  constructor(connectionsMax: number, onClosed: () => void) {
    this.#connectionsMax = connectionsMax;
    this.#onClosed = onClosed;
  }

  open(socket: Socket): void {
    const origin = toOrigin(socket.remoteAddress ?? '');
    this.#origins.set(socket, origin);
    this.#waiting.add(origin, socket);
    socket.once('close', () => this.#forget(socket));
    if (this.#origins.size > this.#connectionsMax) this.#closeLongest();
  }

  /** Notes that a connection has a request. It waits for another once it is owed no answer. */
  serve({ socket }: IncomingMessage, response: ServerResponse, owed: OwedAnswers): void {
    const origin = this.#origins.get(socket);
    if (origin === undefined) return;
    this.#waiting.remove(origin, socket);
    response.once('close', () => {
      if (owed.of(socket).size === 0 && this.#origins.has(socket))
        this.#waiting.add(origin, socket);
    });
  }

  #forget(socket: Socket): void {
    const origin = this.#origins.get(socket);
    if (origin === undefined) return;
    this.#origins.delete(socket);
    this.#waiting.remove(origin, socket);
  }

  #closeLongest(): void {
    const socket = this.#waiting.findLongest();
    if (!socket) return;
    this.#forget(socket);
    this.#onClosed();
    socket.destroy();
  }
}
