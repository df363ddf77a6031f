import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import { openApi } from '../../src/http/api.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { identify } from '../../src/http/identify.ts';
import { mountSdk } from '../../src/http/sdk.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const PATH = '/sdk/trunkline.js';
const SCRIPT = `let answer = ${'4'.repeat(2_000)};`;

const database = testDatabase();
const api = testApi(database);
let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-sdk-'));
  const router = new Router();
  mountSdk(router, folder);
  const app = new Koa()
    .use(identify)
    .use(answerErrors(openLog('silent')))
    .use(router.routes());
  const handle = app.callback();
  server = createServer((inbound, outbound) => void handle(inbound, outbound));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

test('404 not_found: without a build, the answer says how to make one', async () => {
  const response = await fetch(url);
  const { status, headers } = response;
  const body = (await response.json()) as { detail: string };
  expectRefusal({ status, headers, body }, 'not_found');
  expect(body.detail).toContain('make build');
});

test('200: pages of any origin may load it, and keep it for an hour', async () => {
  await writeFile(join(folder, 'trunkline.js'), SCRIPT);
  const { status, headers, ...response } = await fetch(url).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.text(),
  }));
  expect([status, response.text]).toEqual([200, SCRIPT]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  });
});

test('200: who cannot unzip gets it plain', async () => {
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  expect(response.headers.has('content-encoding')).toBe(false);
  expect(await response.text()).toBe(SCRIPT);
});

test('304: who has it is not sent it again, until there is a newer one', async () => {
  const etag = String((await fetch(url)).headers.get('etag'));
  // Without the second, Node's fetch would ask for a new one.
  const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
  const askAgain = () => fetch(url, { headers });
  expect((await askAgain()).status).toBe(304);
  const file = join(folder, 'trunkline.js');
  await writeFile(file, 'let answer = 43;');
  await utimes(file, new Date(), new Date(Date.now() + 5_000));
  const newer = await askAgain();
  expect([newer.status, await newer.text()]).toEqual([200, 'let answer = 43;']);
});

test('405 method_not_allowed: it is read', async () => {
  const { status, headers } = await api.call('POST', PATH, { body: {} });
  expect([status, headers.get('allow')]).toEqual([405, 'HEAD, GET']);
});

test('404 not_found: a worker has none', async () => {
  const worker = await openApi(database.deps, { isDraining: false }, false);
  expect((await fetch(`http://127.0.0.1:${worker.port}${PATH}`)).status).toBe(404);
  await worker.close();
});
