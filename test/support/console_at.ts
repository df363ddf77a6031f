import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { readConfig } from '../../src/config.ts';
import { openApi } from '../../src/http/api.ts';
import type { TestDatabase } from './database.ts';
import { withHalves } from './session.ts';

/** Header lines as they go on the wire: a list is several lines of one name. */
export type Wire = Record<string, string | string[]>;
export type Said = { status: number; headers: IncomingMessage['headers']; text: string };

export type ConsoleAt = {
  port: number;
  /** Sends these headers, with a content type and length of its own: fetch would add others. */
  ask: (method: string, path: string, headers: Wire, body?: unknown) => Promise<Said>;
  /** Calls a mutation of the admin API. */
  call: (procedure: string, input: object, headers: Wire) => Promise<Said>;
};

/** As Node sends them unchanged: names and values in turn. */
const toLines = (headers: Wire): string[] =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]),
  );

/** An api with settings of its own over the test's database, as another process would be. */
export const consoleAt = (database: TestDatabase, settings: Record<string, string>): ConsoleAt => {
  const at = {} as ConsoleAt;
  const resources = new Resources();
  let close: () => Promise<void>;
  beforeAll(async () => {
    const config = readConfig({ ...database.env, ...settings });
    const deps = { ...database.deps, config, resources };
    const listening = await openApi(deps, { isDraining: false }, true);
    ({ close } = listening);
    at.port = listening.port;
  });
  afterAll(async () => {
    await close();
    await resources.close();
  });
  at.ask = (method, path, headers, body) =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const length = String(Buffer.byteLength(bytes));
      const all = toLines({ ...type, 'content-length': length, ...withHalves(headers) });
      const sent = request({ host: '127.0.0.1', port: at.port, method, path, headers: all });
      sent.on('error', reject).on('response', (answer) => {
        let text = '';
        answer
          .setEncoding('utf8')
          .on('data', (piece: string) => (text += piece))
          .on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
          );
      });
      sent.end(bytes);
    });
  at.call = (procedure, input, headers) =>
    at.ask('POST', `/admin/trpc/${procedure}`, headers, input);
  return at;
};

/** The cookies that an answer sets, by name, as a browser would send them. */
export const cookiesOf = ({ headers }: Said): Record<string, string> =>
  Object.fromEntries(
    (headers['set-cookie'] ?? []).map((line) => {
      const [pair = ''] = line.split(';');
      return [pair.split('=')[0] ?? '', pair];
    }),
  );

/** The name of the error that the admin API answered, if it did. */
export const errorOf = ({ text }: Said): { message: string; detail: string } => {
  const { error } = JSON.parse(text) as {
    error?: { message: string; data: { detail: string } };
  };
  return { message: error?.message ?? '', detail: error?.data.detail ?? '' };
};
