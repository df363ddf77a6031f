import type { Server } from 'node:http';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import { JsonStream } from '../../src/base/route.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { sendStream } from '../../src/http/send_stream.ts';
import { until } from '../support/until.ts';

const log = openLog('silent');

/** A server that answers everything with some pieces. */
const serve = async (pieces: () => AsyncIterable<string>, stallMs?: number): Promise<string> => {
  const app = new Koa();
  app.silent = true;
  app.use(answerErrors(log));
  app.use((ctx) => sendStream({ log }, ctx, new JsonStream(pieces()), stallMs));
  const handle = app.callback();
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const tick = () => Promise.resolve();

test('the pieces are the answer', async () => {
  const url = await serve(async function* () {
    yield '{"a":';
    await tick();
    yield '1}';
  });
  const answer = await fetch(url);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(await answer.json()).toEqual({ a: 1 });
});

test('what fails before the first piece is answered as any error', async () => {
  // oxlint-disable-next-line require-yield
  const url = await serve(async function* () {
    await tick();
    throw new Error('too early');
  });
  const answer = await fetch(url);
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ error: 'internal_error' });
});

test('what fails after that cuts the connection: no client takes the answer for complete', async () => {
  const url = await serve(async function* () {
    yield '{"a":1}';
    await tick();
    throw new Error('too late');
  });
  const read = async (): Promise<string> => (await fetch(url)).text();
  await expect(read()).rejects.toThrow();
});

test('nothing is made that the client does not take, and when it leaves the maker is told', async () => {
  let made = 0;
  let isClosed = false;
  const url = await serve(async function* () {
    try {
      for (;;) {
        made += 1;
        await tick();
        yield 'x'.repeat(64 * 1024);
      }
    } finally {
      isClosed = true;
    }
  });
  const asked = get(url, (answer) => answer.pause());
  let last = 0;
  let unchanged = 0;
  await until('no more is made', () => {
    unchanged = made > 0 && made === last ? unchanged + 1 : 0;
    last = made;
    return unchanged > 10;
  });
  expect(made).toBeLessThan(1_000);
  expect(isClosed).toBe(false);
  asked.on('error', () => {});
  asked.destroy();
  await until('the maker is told', () => isClosed);
});

test('a client that leaves before the first piece ends the making all the same', async () => {
  let [hasBegun, hasEnded] = [false, false];
  let goOn = () => {};
  const url = await serve(async function* () {
    try {
      hasBegun = true;
      await new Promise<void>((resolve) => (goOn = resolve));
      yield '{"a":';
      yield '1}';
    } finally {
      hasEnded = true;
    }
  });
  const request = get(url);
  request.on('error', () => {});
  await until('it begins', () => hasBegun);
  request.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  goOn();
  expect(await until('it ends', () => hasEnded)).toBe(true);
});

test('who does not take a piece in time is left, however many it took before', async () => {
  let isClosed = false;
  const url = await serve(async function* () {
    try {
      for (;;) {
        await tick();
        yield 'x'.repeat(64 * 1024);
      }
    } finally {
      isClosed = true;
    }
  }, 300);
  let taken = 0;
  const asked = get(url, (answer) => {
    answer
      .on('error', () => {})
      .on('data', ({ length }: Buffer) => {
        taken += length;
        if (taken > 1024 * 1024) answer.pause();
      });
  });
  asked.on('error', () => {});
  await until('the maker is told', () => isClosed);
  asked.destroy();
  expect(taken).toBeGreaterThan(1024 * 1024);
});

test('a slow client that takes every piece in time is sent all of them', async () => {
  const [count, piece] = [40, 'x'.repeat(256 * 1024)];
  const url = await serve(async function* () {
    for (let made = 0; made < count; made += 1) {
      await tick();
      yield piece;
    }
  }, 2_000);
  const { body } = await fetch(url);
  let taken = 0;
  for await (const chunk of body ?? []) taken += (chunk as Uint8Array).length;
  expect(taken).toBe(count * piece.length);
});
