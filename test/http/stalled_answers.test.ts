import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openApi } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import { PIPELINED_REQUESTS_MAX } from '../../src/http/owed_answers.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { untilWaiting } from '../base/connections.ts';
import { toAnswers, toWire } from './raw_http.ts';

const database = testDatabase();
const api = testApi(database);
/** Their answers are more than the buffers of a connection hold. */
const MUCH = toWire({ path: '/v1/openapi.json' }).repeat(PIPELINED_REQUESTS_MAX);

/** Opens a service that waits `stallMs` for its clients. Returns a client, and the same connection in the service. */
const connectTo = async (stallMs: number): Promise<{ client: Socket; served: Socket }> => {
  const timeouts = { ...TIMEOUTS, stallMs };
  const { port, close } = await openApi(database.deps, { isDraining: false }, true, timeouts);
  onTestFinished(close);
  const opened: Socket[] = [];
  const keep = (message: unknown) => void opened.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', keep);
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => void client.destroy());
  await once(client, 'connect');
  const served = await until(
    'the service has the connection',
    () => opened.find(({ remotePort }) => remotePort === client.localPort) ?? null,
  );
  unsubscribe('net.server.socket', keep);
  return { client, served };
};

test('a connection is reset whose client takes nothing of its answers', async () => {
  const { client, served } = await connectTo(300);
  const failed = once(client, 'error');
  client.pause();
  client.write(MUCH);
  await once(served, 'close');
  // It learns of it at once, and not behind what the kernel still holds for it.
  client.resume();
  const [error] = (await failed) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNRESET');
});

test('attack: a client that sends an empty line now and then, and reads nothing, is reset as well', async () => {
  const { client, served } = await connectTo(300);
  client.pause();
  client.write(MUCH);
  const sending = setInterval(() => client.write('\r\n'), 50);
  await once(served, 'close');
  clearInterval(sending);
  expect(served.destroyed).toBe(true);
});

test('a client that takes its answers slowly gets them all', async () => {
  const stallMs = 2_000;
  const { client } = await connectTo(stallMs);
  const begun = performance.now();
  client.write(MUCH.replace(/(\r\n\r\n)$/, '\r\nConnection: close$1'));
  let text = '';
  for await (const part of client.setEncoding('latin1')) {
    text += part;
    await wait(50);
  }
  expect(toAnswers(text)).toHaveLength(PIPELINED_REQUESTS_MAX);
  expect(performance.now() - begun).toBeGreaterThan(stallMs);
});

test('a request that is worked on for longer is answered', async () => {
  const { client } = await connectTo(50);
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${api.project.server_key}`,
  };
  const body = JSON.stringify({ email: 'ann@people.test' });
  await database.owner.query('begin');
  await database.owner.query('lock table suppression.addresses in access exclusive mode');
  client.write(toWire({ method: 'POST', path: '/v1/suppressions', headers, body }));
  await untilWaiting(database);
  const answered = once(client, 'data');
  await database.owner.query('rollback');
  expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 20\d /);
});
