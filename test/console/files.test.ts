import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Koa from 'koa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleDoor, NONCE_PLACEHOLDER } from '../../src/admin/console.ts';
import { openLog } from '../../src/base/log.ts';
import { readConfig } from '../../src/config.ts';
import { answerErrors } from '../../src/http/errors.ts';

const config = readConfig({
  DATABASE_URL: 'postgres://nobody@127.0.0.1/none',
  MASTER_KEY: '0'.repeat(64),
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

let folder: string;
const servers: Server[] = [];

const serve = async (files: string): Promise<string> => {
  const app = new Koa().use(answerErrors(openLog('silent'))).use(consoleDoor(config, files));
  const handle = app.callback();
  const server = createServer((inbound, outbound) => void handle(inbound, outbound));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

let url: string;

/** A path exactly as it is written: fetch would tidy it first. */
const get = (
  path: string,
  headers: Record<string, string> = {},
  { base = url, method = 'GET' } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(base, { path, headers, method });
    sent.on('error', reject).on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
      });
    });
    sent.end();
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-console-'));
  const built = join(folder, 'console');
  await mkdir(join(built, 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.js'), 'secret');
  await writeFile(
    join(built, 'index.html'),
    `<p nonce="${NONCE_PLACEHOLDER}">${NONCE_PLACEHOLDER}</p>`,
  );
  await writeFile(join(built, 'assets', 'main-abc.js'), 'let answer = 42;');
  url = await serve(built);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

test.each(['/console', '/console/', '/console/p/1/sends?status=queued', '/console/index.html'])(
  '200: %s is the page',
  async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(body.toString()).toMatch(/^<p nonce="[\w+/=]{24}">/);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-content-type-options']).toBe('nosniff');
  },
);

test('the page may run only what came with it, and no other page may frame it', async () => {
  const { headers, body } = await get('/console');
  const [, nonce] = /nonce="([^"]+)"/.exec(body.toString()) ?? [];
  expect(String(headers['content-security-policy']).split('; ')).toEqual([
    "default-src 'self'",
    "img-src 'self' data:",
    `style-src 'self' 'nonce-${nonce}'`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]);
  const again = await get('/console');
  expect(again.body.toString()).not.toContain(nonce);
});

test('200: an asset never changes, and comes zipped to who takes that', async () => {
  const plain = await get('/console/assets/main-abc.js');
  expect(plain.status).toBe(200);
  expect(plain.body.toString()).toBe('let answer = 42;');
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(plain.headers['vary']).toBe('Accept-Encoding');
  const zipped = await get('/console/assets/main-abc.js', { 'accept-encoding': 'gzip, br' });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(zipped.body)).toEqual(plain.body);
});

test.each([
  '/console/assets/gone.js',
  '/console/assets/',
  '/console/assets/../index.html',
  '/console/assets/../../secret.js',
  '/console/assets/..%2f..%2fsecret.js',
  '/console/assets/%2e%2e/%2e%2e/secret.js',
  '/console/assets/..\\..\\secret.js',
  '/console/assets/main-abc.js%00',
  '/console/assets/main-abc.js/x',
])('404: %s is no asset', async (path) => {
  const { status, body } = await get(path);
  expect(status).toBe(404);
  expect(body.toString()).not.toContain('secret');
});

test('404: a path that only begins alike is not the Console', async () => {
  expect((await get('/consoles')).status).toBe(404);
});

test('405: the Console’s files are only read', async () => {
  const { status, headers } = await get('/console', {}, { method: 'POST' });
  expect(status).toBe(405);
  expect(headers['allow']).toBe('GET, HEAD');
  expect((await get('/console', {}, { method: 'HEAD' })).status).toBe(200);
});

test('404: without a build, the answer says how to make one', async () => {
  const base = await serve(join(folder, 'nothing'));
  const { status, headers, body } = await get('/console', {}, { base });
  expect(status).toBe(404);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(body.toString()).toContain('make build');
});
