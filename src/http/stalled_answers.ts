import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { OwedAnswers } from './owed_answers.ts';

/**
 * Closes a connection. Where its client has not taken all of an answer, it is reset: the kernel would otherwise keep
 * what it holds of the answer until the client takes it.
 */
export const closeUnread = (socket: Socket): void => {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
};

/**
 * Closes a connection whose client has taken nothing of its answer for `stallMs`, or up to twice that. Without this the
 * client decides for how long the answer stays in memory. Each byte that the connection sends or receives begins the
 * time again.
 *
 * A request that is still worked on has no such limit: nothing waits for its client. An idle connection ends here, too.
 */
export const closeStalled = (server: Server, owed: OwedAnswers, stallMs: number): void => {
  server.timeout = stallMs;
  // With this listener Node leaves it to us to close the connection, also at the end of `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const isWorkedOn = owed.of(socket).size > 0 && socket.writableLength === 0;
    if (!isWorkedOn) closeUnread(socket);
  });
};
