import { connect } from 'node:net';
import type { Answer } from '../support/api.ts';

const DEADLINE_MS = 10_000;

/** Writes bytes as they are to the server and answers with what came back until it closed the connection. */
export const exchange = (url: string, ...parts: (string | Uint8Array)[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    const read = (): string => Buffer.concat(chunks).toString();
    const tooLate = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stayed open after: ${read()}`));
    }, DEADLINE_MS);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error) => chunks.push(Buffer.from(`<${error.message}>`)));
    socket.on('close', () => {
      clearTimeout(tooLate);
      resolve(read());
    });
    for (const part of parts) socket.write(part);
  });

export type RawRequest = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

/** A request as it goes over the wire, with Host; Content-Length is said for a body unless another is given. */
export const toWire = ({ method = 'GET', path, headers = {}, body = '' }: RawRequest): string => {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: 'localhost', ...length, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`;
};

const ANSWER = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/;

/** The answers in a stream, in order. Throws when anything else is in it. */
export const toAnswers = (text: string): Answer[] => {
  if (text === '') return [];
  const [head, status, lines] = ANSWER.exec(text) ?? [];
  if (head === undefined) throw new Error(`not an answer: ${text.slice(0, 200)}`);
  const headers = new Headers(
    (lines ?? '')
      .split('\r\n')
      .filter(Boolean)
      .map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
  );
  const length = Number(headers.get('content-length') ?? 0);
  const body = text.slice(head.length, head.length + length);
  return [
    { status: Number(status), headers, body: body === '' ? null : JSON.parse(body) },
    ...toAnswers(text.slice(head.length + length)),
  ];
};

/** What the server answers to bytes, one answer after the other. */
export const ask = async (url: string, ...parts: (string | Uint8Array)[]): Promise<Answer[]> =>
  toAnswers(await exchange(url, ...parts));
