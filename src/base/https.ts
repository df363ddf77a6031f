import { once } from 'node:events';
import { Agent, request as makeRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { resolveEgress } from './egress.ts';
import { failpoint } from './failpoint.ts';
import type { NameServers } from './resolve_host.ts';
import { isCertificateCode } from './tls_errors.ts';

export type HttpsTimeouts = { connectMs: number; headersMs: number; answerMs: number };
/** For the connection with its TLS; for the first byte of an answer; for the whole exchange, however busy it looks. */
export const HTTPS_TIMEOUTS: HttpsTimeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  answerMs: 60_000,
};
/** Whoever is asked answers with a few hundred bytes. */
export const ANSWER_BYTES_MAX = 64 * 1024;

/** How many interim answers (1xx) are looked at before the one that counts. */
const INTERIM_ANSWERS_MAX = 10;

/** Where connections may go, and whom names are asked of. */
export type Ways = { allowNetworks: readonly string[]; nameServers: NameServers };

export type HttpsRequest = {
  method: string;
  /** With its query, if there is one. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Asked once, immediately before the first byte. */
  mayStart: () => boolean;
  /** How long an answer may be, where that is not as usual. */
  answerBytesMax?: number;
};

/** What came back: its body, or null when that was cut off or too long. The status counts all the same. */
export type HttpsAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer | null };

export type Exchange =
  | ({ kind: 'answered'; isTooLong: boolean } & HttpsAnswer)
  /** Not a byte was written: we were too late. */
  | { kind: 'not_started' }
  /** Not a byte was written: the connection was gone. */
  | { kind: 'not_written' }
  /** Written, at least in part, and not answered. */
  | { kind: 'lost' };

export type HttpsFailure = 'unresolvable' | 'connection_failed' | 'certificate_invalid';
export type HttpsConnected =
  { kind: 'connected'; connection: HttpsConnection } | { kind: 'failed'; reason: HttpsFailure };

/** Lends the one socket that was opened for it, and never opens another. */
class OneSocketAgent extends Agent {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#socket = socket;
  }

  override createConnection(): Socket {
    return this.#socket;
  }
}

const readBody = async (answer: IncomingMessage, bytesMax: number) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) return { body: null, isTooLong: true };
      chunks.push(chunk);
    }
  } catch {
    return { body: null, isTooLong: false };
  }
  return { body: Buffer.concat(chunks), isTooLong: false };
};

/** One connection to a host. Carries one request at a time, follows no redirect and repeats nothing. */
export class HttpsConnection {
  readonly #url: URL;
  readonly #socket: Socket;
  readonly #agent: Agent;
  readonly #timeouts: HttpsTimeouts;

  constructor(url: URL, socket: Socket, timeouts: HttpsTimeouts) {
    this.#url = url;
    this.#socket = socket.on('error', () => {}).on('end', () => socket.destroy());
    this.#agent = new OneSocketAgent(socket);
    this.#timeouts = timeouts;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  close(): void {
    this.#agent.destroy();
    this.#socket.destroy();
  }

  /** Writes one request and reads its answer. After anything but a whole answer the connection is closed. */
  async exchange(given: HttpsRequest): Promise<Exchange> {
    if (!this.isOpen) return { kind: 'not_written' };
    const tooLong = setTimeout(() => this.#socket.destroy(), this.#timeouts.answerMs);
    try {
      const exchange = await this.#exchange(given);
      if (exchange.kind !== 'answered' || exchange.body === null) this.close();
      return exchange;
    } finally {
      clearTimeout(tooLong);
    }
  }

  async #exchange(given: HttpsRequest): Promise<Exchange> {
    const { method, path, headers, body, mayStart, answerBytesMax = ANSWER_BYTES_MAX } = given;
    const request = makeRequest({
      agent: this.#agent,
      host: this.#url.hostname,
      method,
      path,
      headers: { Host: this.#url.host, ...headers, 'Content-Length': String(body.length) },
    });
    let interim = 0;
    request
      .on('error', () => {})
      .on('information', () => {
        interim += 1;
        if (interim > INTERIM_ANSWERS_MAX) request.destroy();
      });
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    let isWritten = false;
    try {
      await once(request, 'socket');
      if (!mayStart()) {
        request.destroy();
        return { kind: 'not_started' };
      }
      isWritten = this.isOpen;
      const middle = Math.ceil(body.length / 2);
      request.write(body.subarray(0, middle));
      failpoint('mid_body');
      request.end(body.subarray(middle));
      const [answer] = await this.#withinHeadersTime(answered);
      const { statusCode: status = 0, headers: answerHeaders } = answer;
      const read = await readBody(answer, answerBytesMax);
      return { kind: 'answered', status, headers: answerHeaders, ...read };
    } catch {
      request.destroy();
      return { kind: isWritten ? 'lost' : 'not_written' };
    }
  }

  async #withinHeadersTime<T>(answered: Promise<T>): Promise<T> {
    const tooLong = setTimeout(() => this.#socket.destroy(), this.#timeouts.headersMs);
    try {
      return await answered;
    } finally {
      clearTimeout(tooLong);
    }
  }
}

const dial = async (url: URL, address: string, timeoutMs: number): Promise<Socket> => {
  const { hostname, protocol } = url;
  const isSecure = protocol === 'https:';
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = isSecure
    ? connectTls({
        host: address,
        port,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
      })
    : connectTcp({ host: address, port });
  socket.setNoDelay(true);
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', {
      signal: AbortSignal.timeout(timeoutMs),
    });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    throw error;
  }
};

const failed = (reason: HttpsFailure): HttpsConnected => ({ kind: 'failed', reason });

/**
 * Connects to the checked address of a host, its certificate checked against the name. Without TLS
 * only within networks that the operator listed.
 */
export const openHttps = async (
  url: URL,
  { allowNetworks, nameServers }: Ways,
  timeouts: HttpsTimeouts = HTTPS_TIMEOUTS,
): Promise<HttpsConnected> => {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const egress = await resolveEgress(host, allowNetworks, nameServers);
  if (egress.kind === 'unresolvable') return failed('unresolvable');
  const isPlain = url.protocol !== 'https:';
  if (egress.kind === 'closed' || (isPlain && !egress.isInAllowedNetwork))
    return failed('connection_failed');
  try {
    const socket = await dial(url, egress.address, timeouts.connectMs);
    return { kind: 'connected', connection: new HttpsConnection(url, socket, timeouts) };
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return failed(isCertificateCode(code) ? 'certificate_invalid' : 'connection_failed');
  }
};
