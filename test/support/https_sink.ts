import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';

/** An answer as a test wants it; `json` is sent as JSON, `text` as it is. */
export type HttpReply = {
  status: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
};
/** `drop` cuts before an answer, `truncate` within one; `endless` never ends, `drip` a byte at a time. */
export type HttpAction = HttpReply | 'drop' | 'hang' | 'truncate' | 'endless' | 'drip';

export type SunkRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Which connection it came over, counted from 1. */
  connection: number;
  /** When it began, in milliseconds since 1970. */
  at: number;
  /** The status of the whole answer to it; null for none, or a piece of one. */
  answer: number | null;
};

export type HttpsSinkOptions = {
  /** Names in the certificate. */
  hosts?: string[];
  trusted?: boolean;
  secure?: boolean;
  /** What it answers as long as nothing is played. */
  usually: (request: SunkRequest) => HttpReply;
};

type Rule = { path: string; action: HttpAction; left: number };

const DRIP_MS = 20;
const FLOOD = 'x'.repeat(16 * 1024);

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const reply = (response: ServerResponse, { status, json, text, headers }: HttpReply): void => {
  const type = json === undefined ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(json === undefined ? text : JSON.stringify(json));
};

const flood = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const pour = (): void => {
    while (!response.destroyed && response.write(FLOOD));
  };
  response.on('drain', pour).on('error', () => {});
  pour();
};

const drip = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), DRIP_MS);
  response.on('close', () => clearInterval(timer)).on('error', () => {});
};

/** A provider's HTTPS API that records what it is asked and behaves as badly as a test wants. */
export class HttpsSink {
  requests: SunkRequest[] = [];
  connections = 0;
  url!: string;
  readonly #options: HttpsSinkOptions;
  readonly #sockets = new Map<Socket, number>();
  #rules: Rule[] = [];
  #server!: Server;
  #ca = '';

  constructor(options: HttpsSinkOptions) {
    this.#options = options;
  }

  async start(): Promise<this> {
    const { hosts = ['localhost', '127.0.0.1'], trusted = true, secure = true } = this.#options;
    const { ca, cert, key } = await makeCertificate(hosts);
    this.#ca = ca;
    if (trusted) trustAuthority(ca);
    this.#server = (secure ? createSecure({ cert, key }) : createPlain()) as Server;
    this.#server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.set(socket, this.connections);
      socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('request', (request, response) => void this.#serve(request, response));
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    this.url = `${secure ? 'https' : 'http'}://127.0.0.1:${port}`;
    return this;
  }

  async close(): Promise<void> {
    if (this.#options.trusted ?? true) distrustAuthority(this.#ca);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.dropAll();
    await closed;
  }

  /** From now on answers paths that end so in this way; the first rule that fits is taken. */
  play(path: string, action: HttpAction, times = Infinity): void {
    this.#rules.push({ path, action, left: times });
  }

  /** Forgets the script. */
  forgive(): void {
    this.#rules = [];
  }

  /** Forgets script and records. */
  reset(): void {
    this.forgive();
    this.requests = [];
  }

  dropAll(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.timeOrigin + performance.now();
    const body = await readAll(request).catch(() => Buffer.alloc(0));
    const sunk: SunkRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      connection: this.#sockets.get(request.socket) ?? 0,
      at,
      answer: null,
    };
    this.requests.push(sunk);
    const rule = this.#rules.find(({ path, left }) => left > 0 && sunk.path.endsWith(path));
    if (rule) rule.left -= 1;
    const action = rule?.action ?? this.#options.usually(sunk);
    if (typeof action === 'object') sunk.answer = action.status;
    if (action === 'hang') return;
    if (action === 'endless') flood(response);
    else if (action === 'drip') drip(response);
    else if (action === 'drop') request.socket.destroy();
    else if (action === 'truncate') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"data":', () => request.socket.destroy());
    } else reply(response, action);
  }
}

/** A sink for the tests of one file: started before them and closed after them. */
export const httpsSink = (options: HttpsSinkOptions): HttpsSink => {
  const sink = new HttpsSink(options);
  beforeAll(() => sink.start());
  afterAll(() => sink.close());
  return sink;
};
