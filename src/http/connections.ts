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

/** How old the knowledge is of which requests are under way, when a connection has to be closed. */
const LOOK_MS = 1_000;

/**
 * Keeps a process to `connectionsMax` connections. Where one more arrives, the process closes one that waits, the new
 * one included: the one that waits longest, of the origin with most of them. So an origin that takes all connections
 * makes room for others out of its own.
 *
 * A connection waits while the service owes it nothing: before a request has arrived whole, and once the answer is
 * written, however much of it the client has read. A connection with a request under way is kept.
 */
export class Connections {
  readonly #connectionsMax: number;
  readonly #owed: OwedAnswers;
  readonly #onClosed: () => void;
  readonly #waiting = new Waiting();
  /** Those with a request that was under way when it was last looked at. */
  readonly #busy = new Set<Socket>();
  /** The origin of each open connection: Node forgets the address of one that is closed. */
  readonly #origins = new Map<Socket, string>();
  #lookedAt = 0;

  /** Calls `onClosed` for each connection that it closes for want of room. */
  constructor(connectionsMax: number, owed: OwedAnswers, onClosed: () => void) {
    this.#connectionsMax = connectionsMax;
    this.#owed = owed;
    this.#onClosed = onClosed;
  }

  /** Returns the open connections. */
  list(): Iterable<Socket> {
    return this.#origins.keys();
  }

  /** Counts a new connection, and returns its origin. */
  open(socket: Socket): string {
    const origin = toOrigin(socket.remoteAddress ?? '');
    this.#origins.set(socket, origin);
    this.#waiting.add(origin, socket);
    socket.once('close', () => this.#forget(socket));
    if (this.#origins.size > this.#connectionsMax) this.#closeLongest();
    return origin;
  }

  /** Notes that a connection has a request. Returns false where it may ask no more. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const onClosed = () => this.#place(socket, this.#isBusy(socket));
    if (!this.#owed.take(request, response, onClosed)) return false;
    this.#place(socket, true);
    return true;
  }

  #isBusy(socket: Socket): boolean {
    return [...this.#owed.of(socket)].some(
      ({ req, writableEnded }) => req.complete && !writableEnded,
    );
  }

  #place(socket: Socket, isBusy: boolean): void {
    const origin = this.#origins.get(socket);
    if (origin === undefined) return;
    if (isBusy) {
      this.#busy.add(socket);
      this.#waiting.remove(origin, socket);
    } else {
      this.#busy.delete(socket);
      this.#waiting.add(origin, socket);
    }
  }

  #forget(socket: Socket): void {
    const origin = this.#origins.get(socket);
    if (origin === undefined) return;
    this.#origins.delete(socket);
    this.#busy.delete(socket);
    this.#waiting.remove(origin, socket);
  }

  /** Neither the end of a body nor the end of an answer that waits for another is an event, so this looks. */
  #look(): void {
    if (performance.now() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = performance.now();
    for (const socket of this.#busy) if (!this.#isBusy(socket)) this.#place(socket, false);
  }

  #closeLongest(): void {
    this.#look();
    for (let socket; (socket = this.#waiting.findLongest()) !== undefined;) {
      if (this.#isBusy(socket)) {
        this.#place(socket, true);
        continue;
      }
      this.#forget(socket);
      this.#onClosed();
      // Not closed: the kernel would keep what the client has not read.
      socket.resetAndDestroy();
      return;
    }
  }
}
