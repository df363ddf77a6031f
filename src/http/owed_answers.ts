import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countChunks } from './count_chunks.ts';
import type { ChunkParser } from './count_chunks.ts';

/**
 * So many requests of one connection may wait for their answers, or arrive together (RFC 9112, section 9.3.2, calls
 * that pipelining). More are not read: the connection is closed after the answers that it is owed. Browsers and SDKs
 * send one at a time.
 */
export const PIPELINED_REQUESTS_MAX = 10;

/** The parser of a connection in Node. It calls `onIncoming` for each request; -1 as a result stops llhttp. */
type Parser = ChunkParser & { onIncoming: (this: unknown, ...request: unknown[]) => number };
/** Node resumes a connection for each body that is read, unless it is marked as paused. */
type Connection = Socket & { parser?: Parser; _paused?: boolean };

const STOP_PARSING = -1;

/** The answers that each connection is owed, in the order of their requests. */
export class OwedAnswers {
  readonly #owed = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #full = new WeakSet<Socket>();
  /** How many requests of each connection this turn of the event loop has read: a refusal is owed for no time. */
  readonly #readNow = new Map<Socket, number>();

  of(socket: Socket): ReadonlySet<ServerResponse> {
    return this.#owed.get(socket) ?? new Set();
  }

  /** Returns whether the connection may ask no more. */
  isFull(socket: Socket): boolean {
    return this.#full.has(socket);
  }

  /**
   * Stops the parser of a connection that may ask no more. Node otherwise parses the rest of what it has read, a
   * thousand requests in 64 KiB, at once and in memory: a few hundred such connections would end the process. A
   * connection whose body comes in too many small chunks may ask no more, either.
   */
  watch(socket: Connection): void {
    const { parser } = socket;
    if (!parser)
      throw new Error('Node no longer gives a connection its parser before `connection`');
    const chunks = countChunks(socket, parser, () => this.#closeAfter(socket, this.of(socket)));
    const { onIncoming } = parser;
    parser.onIncoming = (...request) => {
      // Requests that arrive together have the chunks of one: else ten would cost what one may not.
      const isAlone = this.of(socket).size === 0 && !this.#readNow.has(socket);
      if (isAlone) chunks.reset();
      const next = onIncoming.apply(parser, request);
      return this.isFull(socket) ? STOP_PARSING : next;
    };
  }

  /**
   * Notes that a request is owed an answer. Returns false where the connection may ask no more. Calls `onClosed` once
   * the answer is owed no more.
   */
  take({ socket }: IncomingMessage, answer: ServerResponse, onClosed: () => void): boolean {
    if (this.isFull(socket)) return false;
    const answers = this.#owed.get(socket) ?? new Set();
    const read = this.#readNow.get(socket) ?? 0;
    if (answers.size >= PIPELINED_REQUESTS_MAX || read >= PIPELINED_REQUESTS_MAX) {
      this.#closeAfter(socket, answers);
      return false;
    }
    this.#countRead(socket, read + 1);
    this.#owed.set(socket, answers.add(answer));
    answer.once('close', () => {
      answers.delete(answer);
      onClosed();
    });
    return true;
  }

  #countRead(socket: Socket, read: number): void {
    if (this.#readNow.size === 0) setImmediate(() => this.#readNow.clear());
    this.#readNow.set(socket, read);
  }

  #closeAfter(socket: Connection, answers: ReadonlySet<ServerResponse>): void {
    this.#full.add(socket);
    socket._paused = true;
    socket.pause();
    const last = [...answers].at(-1);
    if (!last) {
      socket.destroySoon();
      return;
    }
    // Node then says `Connection: close`, and closes the connection after this answer.
    last.shouldKeepAlive = false;
    if (last.headersSent) last.once('close', () => socket.destroySoon());
  }
}
