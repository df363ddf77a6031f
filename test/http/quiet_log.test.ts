// What clients can cause leaves no line of level error for each of them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import Koa from 'koa';
import { beforeEach, expect, test } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { identify } from '../../src/http/identify.ts';
import { OverloadLog, OVERLOAD_LOG_MS } from '../../src/http/overload_log.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { toWire } from './raw_http.ts';

const ERROR = 50;
const WARN = 40;
type Line = { level: number; msg: string; refused?: number };

const database = testDatabase();
const lines: Line[] = [];
const log = openLog(
  'debug',
  new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  }),
);
beforeEach(() => {
  lines.length = 0;
});
const levelsOf = (text: string): number[] =>
  lines.filter(({ msg }) => msg === text).map(({ level }) => level);

test('attack: answers whose client resets the connection are no errors of the service', async () => {
  const resources = new Resources();
  const api = await openApi({ ...database.deps, log, resources }, { isDraining: false }, true);
  const RESETS = 20;
  for (let at = 0; at < RESETS; at += 1) {
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(toWire({ path: '/docs' }), () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  await until(
    'an answer finds no client',
    () => levelsOf('answer could not be written').length > 0,
  );
  await api.close();
  await resources.close();
  expect(lines.filter(({ level }) => level >= ERROR)).toEqual([]);
});

test('attack: requests that are refused for want of room are one warning', async () => {
  const app = new Koa();
  app.use(identify).use(answerErrors(log));
  app.use(() => {
    throw new Refusal('overloaded');
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  for (let at = 0; at < 20; at += 1)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(503);
  server.close();
  expect(levelsOf('overloaded')).toEqual([WARN]);
});

test('a line says how many requests were refused since the last one', () => {
  let now = 0;
  const overloads = new OverloadLog(log, () => now);
  for (const at of [0, 1, OVERLOAD_LOG_MS - 1, OVERLOAD_LOG_MS, 2 * OVERLOAD_LOG_MS]) {
    now = at;
    overloads.add('req_12345678');
  }
  expect(lines.map(({ refused }) => refused)).toEqual([1, 3, 1]);
});
