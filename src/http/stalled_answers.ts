import type { Server } from 'node:http';
import type { OwedAnswers } from './owed_answers.ts';

/**
 * Closes a connection whose client has taken nothing of its answer for `stallMs`. Without this the client decides for
 * how long the answer stays in memory. Each byte that the connection sends or receives begins the time again.
 *
 * A request that is still worked on has no such limit: nothing waits for its client. An idle connection ends here, too.
 */
export const closeStalled = (server: Server, owed: OwedAnswers, stallMs: number): void => {
  server.timeout = stallMs;
  // With this listener Node leaves it to us to close the connection, also at the end of `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const isWorkedOn = owed.of(socket).size > 0 && socket.writableLength === 0;
    if (!isWorkedOn) socket.destroy();
  });
};
