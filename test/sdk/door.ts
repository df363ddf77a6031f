import { createServer, request as ask } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

/** A request as it arrived. */
export type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When it was there as a whole. */
  atMs: number;
};

/**
 * What becomes of a request:
 * - `pass`: the service answers it.
 * - `cut`: nobody gets it, and the connection is lost.
 * - `lose_answer`: the service gets it; its answer is lost with the connection.
 * - an answer: a server in between gives it, and the service gets nothing.
 */
export type Fate = 'pass' | 'cut' | 'lose_answer' | { status: number; headers?: object };

type Decide = (received: Received) => Fate | Promise<Fate>;

export type Door = {
  url: string;
  /** All posts that arrived, whatever became of them. */
  received: Received[];
  /** Decides from now on about posts, one by one. */
  decide: (decide: Decide) => void;
  /** Keeps every other request, such as the question before a post, until that is over. */
  hold: (until: Promise<void>) => void;
};

const readAll = async (stream: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

export const listenUntilEnd = (server: Server): void => {
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
};

/** A server in front of the service, which writes down what it gets and loses what the test says. */
export const testDoor = (target: () => string): Door => {
  const received: Received[] = [];
  let decide: Decide = () => 'pass';
  let held = Promise.resolve();

  const pass = (inbound: IncomingMessage, body: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, url, headers } = inbound;
      const outbound = ask(target() + url, { method: method ?? 'GET', headers });
      outbound.on('response', resolve).on('error', reject).end(body);
    });
  const serve = async (inbound: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const body = await readAll(inbound);
    const { method = '', url: path = '', headers } = inbound;
    const one = { method, path, headers, body: body.toString(), atMs: performance.now() };
    if (method === 'POST') received.push(one);
    if (method !== 'POST') await held;
    const fate = method === 'POST' ? await decide(one) : 'pass';
    if (fate === 'cut') return void inbound.socket.destroy();
    if (typeof fate === 'object') {
      const cors = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Retry-After',
      };
      answer.writeHead(fate.status, { ...cors, ...fate.headers }).end('{}');
      return;
    }
    const given = await pass(inbound, body);
    const bytes = await readAll(given);
    if (fate === 'lose_answer') return void inbound.socket.destroy();
    answer.writeHead(given.statusCode ?? 0, given.headers).end(bytes);
  };
  const server = createServer((inbound, answer) => {
    // Who goes away in the middle is no fault of the door's.
    serve(inbound, answer).catch(() => inbound.socket.destroy());
  });
  listenUntilEnd(server);
  return {
    get url() {
      return urlOf(server);
    },
    received,
    decide: (next) => {
      decide = next;
    },
    hold: (next) => {
      held = next;
    },
  };
};

type Page = { text: string; headers?: Record<string, string> };

export type Site = {
  url: string;
  /** Shows a page, or a script, at a path. */
  put: (path: string, text: string, headers?: Record<string, string>) => void;
};

/** Somebody's web site: an origin that is not the service's. */
export const testSite = (): Site => {
  const pages = new Map<string, Page>();
  const server = createServer((request, answer) => {
    const [path = ''] = (request.url ?? '').split('?');
    const page = pages.get(path);
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
    answer.writeHead(page ? 200 : 404, {
      'content-type': `${type}; charset=utf-8`,
      ...page?.headers,
    });
    answer.end(page?.text ?? '');
  });
  listenUntilEnd(server);
  return {
    get url() {
      return urlOf(server);
    },
    put: (path, text, headers = {}) => void pages.set(path, { text, headers }),
  };
};
