import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hasManySmallChunks, stopBody } from '../base/bodies/bodies.ts';

/** Where Node's parser keeps what it calls for each chunk of a body, and for the end of a message. */
const ON_BODY = 3;
const ON_MESSAGE_COMPLETE = 4;

/** What this file uses of the parser of a connection in Node. */
export type ChunkParser = {
  socket: Socket | null;
  incoming: IncomingMessage | null;
  [ON_BODY]: ((this: ChunkParser, chunk: Buffer) => void) | null;
  [ON_MESSAGE_COMPLETE]: ((this: ChunkParser) => void) | null;
};

/** Counts the chunks of a connection. */
class ChunkCounter {
  readonly onTooMany: () => void;
  #chunks = 0;
  #size = 0;

  constructor(onTooMany: () => void) {
    this.onTooMany = onTooMany;
  }

  /** Returns whether the connection may send this chunk. */
  take(bytes: number): boolean {
    this.#chunks += 1;
    this.#size += bytes;
    return !hasManySmallChunks(this.#chunks, this.#size);
  }

  reset(): void {
    this.#chunks = 0;
    this.#size = 0;
  }
}

const counters = new WeakMap<Socket, ChunkCounter>();
const counting = new WeakSet<ChunkParser>();

/**
 * Node sets these functions once for each parser, and then lends it to one connection after another, also to
 * those that the service opens itself. So each parser counts for the connection that it has, and is changed once.
 */
const install = (parser: ChunkParser): void => {
  if (counting.has(parser)) return;
  const { [ON_BODY]: onBody, [ON_MESSAGE_COMPLETE]: onMessageComplete } = parser;
  if (onBody?.name !== 'parserOnBody' || onMessageComplete?.name !== 'parserOnMessageComplete')
    throw new Error('Node no longer keeps the functions for bodies on a parser at 3 and 4');
  counting.add(parser);
  const countOnBody = (chunk: Buffer): void => {
    const { socket, incoming } = parser;
    const counter = socket ? counters.get(socket) : undefined;
    if (!socket || !counter || counter.take(chunk.length)) {
      onBody.call(parser, chunk);
      return;
    }
    // llhttp cannot be stopped within a packet here: `pause` takes effect with the next one. Without a function it
    // skips the rest at a twentieth of the cost. Without the second no reader takes a part of a body for all of it.
    parser[ON_BODY] = null;
    parser[ON_MESSAGE_COMPLETE] = null;
    socket.prependOnceListener('close', () => {
      parser[ON_BODY] = countOnBody;
      parser[ON_MESSAGE_COMPLETE] = onMessageComplete;
    });
    counter.onTooMany();
    if (incoming) stopBody(incoming);
  };
  parser[ON_BODY] = countOnBody;
};

/**
 * Counts the chunks of a connection where they leave its parser, for all routes alike. Stops the body (`stopBody`) at
 * the first small chunk that is too many, and calls `onTooMany`, which has to close the connection.
 */
export const countChunks = (
  socket: Socket,
  parser: ChunkParser,
  onTooMany: () => void,
): ChunkCounter => {
  install(parser);
  const counter = new ChunkCounter(onTooMany);
  counters.set(socket, counter);
  return counter;
};
