import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** A connection in Node. Its handle knows how many bytes the kernel has not taken. */
type Connection = Socket & { _handle?: { writeQueueSize?: number } | null };

/** Returns a text that changes whenever the client takes bytes; null where nothing waits for it. */
const standOf = (socket: Connection): string | null =>
  socket.writableLength === 0
    ? null
    : `${socket.bytesWritten} ${socket.writableLength} ${socket._handle?.writeQueueSize ?? 0}`;

/**
 * Resets a connection whose client has taken nothing of its answer for `stallMs`, or up to twice that. Without this the
 * client decides for how long the answer stays in memory. What the client sends does not count, and a request that is
 * still worked on has nothing to take.
 *
 * The connection is reset, not closed: the kernel would keep what it holds of the answer until the client takes it.
 */
export const resetStalled = (server: Server, connections: Connections, stallMs: number): void => {
  const stands = new WeakMap<Socket, string>();
  const look = setInterval(() => {
    for (const socket of connections.list()) {
      const stand = standOf(socket);
      if (stand === null) stands.delete(socket);
      else if (stand === stands.get(socket)) socket.resetAndDestroy();
      else stands.set(socket, stand);
    }
  }, stallMs);
  look.unref();
  server.once('close', () => clearInterval(look));
};
