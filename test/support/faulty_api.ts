import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

/**
 * What becomes of a request:
 * - `pass`: it is served.
 * - `cut_request`: the connection is lost before the service has it.
 * - `cut_answer`: the service has done it; half of its answer comes, then the connection is lost.
 * - `lose_answer`: the service has done it; the connection is lost before any answer.
 * - `hold`: nobody answers, and the connection stays.
 * - an answer: given in place of the service.
 */
export type Fault =
  | 'pass'
  | 'cut_request'
  | 'cut_answer'
  | 'lose_answer'
  | 'hold'
  | { status: number; headers?: Record<string, string>; body?: string };

export type Seen = {
  at: number;
  path: string;
  headers: IncomingMessage['headers'];
  /** Parsed. */
  body: unknown;
  fault: Fault;
  /** What the service answered; null where it was not asked. */
  status: number | null;
};

export type FaultyApi = {
  url: string;
  /** Every request, in the order in which they came to an end here. */
  seen: Seen[];
  /** Decides about each request to come. */
  decide: (fault: (path: string, method: string) => Fault) => void;
};

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const parse = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
};

const OWN = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect']);

const askTarget = (target: string, request: IncomingMessage, body: Buffer): Promise<Response> => {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    OWN.has(name) || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = body.length > 0 ? { body: new Uint8Array(body) } : {};
  return fetch(target + request.url, { method: request.method ?? 'GET', headers, ...hasBody });
};

/** A way to the service that fails as the test says: over HTTP, and below it. */
export const faultyApi = (target: () => string): FaultyApi => {
  let decide: (path: string, method: string) => Fault = () => 'pass';
  const api: FaultyApi = { url: '', seen: [], decide: (fault) => (decide = fault) };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await readAll(request);
    const path = request.url ?? '';
    const fault = decide(path, request.method ?? '');
    const note = (status: number | null): void => {
      const { headers } = request;
      api.seen.push({ at: Date.now(), path, headers, body: parse(bytes), fault, status });
    };
    if (typeof fault === 'object') {
      note(null);
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
    } else if (fault === 'hold') note(null);
    else if (fault === 'cut_request') {
      note(null);
      request.socket.resetAndDestroy();
    } else {
      const answer = await askTarget(target(), request, bytes);
      const text = await answer.text();
      note(answer.status);
      if (fault === 'lose_answer') request.socket.resetAndDestroy();
      else {
        const length = Buffer.byteLength(text);
        const kept = [...answer.headers].filter(([name]) => !OWN.has(name) && name !== 'date');
        response.writeHead(answer.status, {
          ...Object.fromEntries(kept),
          'content-length': length,
        });
        if (fault === 'pass') response.end(text);
        else response.write(text.slice(0, length / 2), () => request.socket.resetAndDestroy());
      }
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  return api;
};
