import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal, refusals } from '../base/refusal.ts';
import { toBody } from './errors.ts';
import { newRequestId } from './identify.ts';
import type { OwedAnswers } from './owed_answers.ts';

/** How long a connection that was told why it is closed may go on before it is cut. */
const CLOSE_TIMEOUT_MS = 1_000;

const notHttp = new Refusal('invalid_request', { detail: 'This is not an HTTP request.' });

const refusalsByCode: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('request_timeout'),
};

/** Tells a connection why it is closed, in the one shape, and closes it whatever the other side does. */
const refuse = (socket: Socket, refusal: Refusal): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId();
  const body = JSON.stringify(toBody(refusal, requestId));
  const { status } = refusals[refusal.reason];
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // Not at once: cutting a connection that still receives takes our last words away from the reader.
  const cut = setTimeout(() => socket.resetAndDestroy(), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(cut));
};

type Answers = ReadonlySet<ServerResponse>;

/** Resolves when every answer to a request that arrived whole is given. */
const settle = (answers: Answers): Promise<unknown> =>
  Promise.all(
    [...answers]
      .filter(({ req }) => req.complete)
      .map((answer) => new Promise((resolve) => answer.once('close', resolve))),
  );

/**
 * Answers what is not even HTTP, or too late or too large for it.
 *
 * Only after what the connection still owes: written earlier, the refusal would be read as the
 * answer to the request before, and an event that is stored would count as refused.
 */
export const answerBrokenRequests = (server: Server, owed: OwedAnswers): void => {
  const broken = new WeakSet<Socket>();

  const close = async (socket: Socket, refusal: Refusal): Promise<void> => {
    if (broken.has(socket)) return;
    broken.add(socket);
    const answers = owed.of(socket);
    await settle(answers);
    // What was answered before it had arrived has had its answer.
    const isAnswered = [...answers].some(({ headersSent }) => headersSent);
    if (isAnswered) socket.destroySoon();
    else refuse(socket, refusal);
  };

  server.on('connect', (_request, socket) => {
    // Node hands over this socket without a listener, and an error that nothing listens to ends the process.
    socket.on('error', () => socket.destroy());
    void close(socket as Socket, notHttp);
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    // Its parser was stopped: it is closed after the answers that it is owed.
    else if (owed.isFull(socket as Socket)) return;
    else void close(socket as Socket, refusalsByCode[error.code ?? ''] ?? notHttp);
  });
};
