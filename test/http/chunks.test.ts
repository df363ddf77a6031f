// Bodies in many small chunks: each chunk costs a call, however small it is.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CHUNK_BYTES_MIN, discardBody, SMALL_CHUNKS_MAX } from '../../src/http/body.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { inChunks, postChunks, singleBytes } from './in_chunks.ts';
import { ask, toWire } from './raw_http.ts';

const api = testApi(testDatabase());

const BYTES_MAX = singleBytes(SMALL_CHUNKS_MAX);
const post = (key: string | null, body: string) => postChunks(api.url, key, body);

test('at the bound single bytes are taken, and one past it they are refused', async () => {
  const { server_key: key } = api.project;
  const [taken] = await post(key, inChunks(BYTES_MAX, 1));
  expect(taken?.status).toBe(202);
  const [refused] = await post(key, inChunks(BYTES_MAX + 1, 1));
  expect(refused?.status).toBe(400);
  expect(refused?.body.detail).toContain(`chunks of at least ${CHUNK_BYTES_MIN} bytes`);
});

test('larger chunks are taken, however many', async () => {
  const body = inChunks(3 * SMALL_CHUNKS_MAX, CHUNK_BYTES_MIN);
  const [answer] = await post(api.project.server_key, body);
  // The whole body is read: its property is longer than it may be.
  expect(answer?.body.issues).toMatchObject([{ path: '/properties/x' }]);
});

test('the rest of a refused body is read in as many small chunks, and in not one more', async () => {
  const request = new IncomingMessage(new Socket());
  let isOver = false;
  const discarding = discardBody(request).then(() => (isOver = true));
  for (let at = 0; at < BYTES_MAX; at += 1) request.push('x');
  await turn();
  expect(isOver).toBe(false);
  request.push('x');
  expect(await discarding).toBe(true);
});

test('attack: many bodies in chunks of one byte without a key leave others their turns', async () => {
  const flood = Array.from({ length: 20 }, () => post(null, inChunks(20_000, 1)));
  const health = toWire({ path: '/healthz', headers: { Connection: 'close' } });
  const [answer] = await ask(api.url, health);
  expect(answer?.status).toBe(200);
  for (const [refused] of await Promise.all(flood)) expect(refused?.status).toBe(401);
});
