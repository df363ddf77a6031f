import { once } from 'node:events';
import { Agent, request as makeRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { resolveEgress } from '../base/egress.ts';
import { failpoint } from '../base/failpoint.ts';
import type { Network } from './transport.ts';
import { isCertificateCode } from './tls_errors.ts';

export type HttpsTimeouts = { connectMs: number; headersMs: number; answerMs: number };
/** For the connection with its TLS; for the first byte of an answer; for the whole exchange, however busy it looks. */
export const HTTPS_TIMEOUTS: HttpsTimeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  answerMs: 60_000,
};
/** Providers answer with a few hundred bytes. */
export const ANSWER_BYTES_MAX = 64 * 1024;

export type HttpsRequest = {
  method: string;
  /** With its query, if there is one. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  mayStart: () => boolean;
};

/** What came back: its body, or null when that was cut off or too long. The status counts all the same. */
export type HttpsAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer | null };

export type Exchange =
  | ({ kind: 'answered' } & HttpsAnswer)
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

const readBody = async (answer: IncomingMessage): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
};

/** One connection to a provider. Carries one request at a time, follows no redirect and repeats nothing. */
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

  async #exchange({ method, path, headers, body, mayStart }: HttpsRequest): Promise<Exchange> {
    const request = makeRequest({
      agent: this.#agent,
      host: this.#url.hostname,
      method,
      path,
      headers: { ...headers, Host: this.#url.host, 'Content-Length': String(body.length) },
    });
    request.on('error', () => {});
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
      return { kind: 'answered', status, headers: answerHeaders, body: await readBody(answer) };
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

/** A host whose name nobody knows cannot be connected to; where its name means something, the caller says so. */
export const reasonOf = (failure: HttpsFailure) =>
  failure === 'unresolvable' ? 'connection_failed' : failure;

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
export const openHttps = async (url: URL, network: Network): Promise<HttpsConnected> => {
  const timeouts = network.httpsTimeouts ?? HTTPS_TIMEOUTS;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const egress = await resolveEgress(host, network.allowNetworks, network.nameServers);
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
