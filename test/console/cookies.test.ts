// The cookies of the Console in a real browser: over https behind a proxy, and over http on this machine.
import { createServer, request } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { readConfig } from '../../src/config.ts';
import { openApi } from '../../src/http/api.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { makeCertificate } from '../../src/runtime/certificate.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { findBrowser, FLAGS, launch, NO_BROWSER } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { fillLogin } from './in_browser.ts';

const CONSOLE = 'console.shop.test';
const SIBLING = 'evil.shop.test';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const found = await findBrowser();

const closing: (() => unknown)[] = [];
let browser: Browser;
let secureUrl: string;

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
};

/** Ends TLS, as a reverse proxy does, and passes the Host header on. */
const proxyTo =
  (portOf: () => number): RequestListener =>
  (inbound, answer) => {
    const { url, method, headers } = inbound;
    const forwarded = { ...headers, 'x-forwarded-for': inbound.socket.remoteAddress ?? '' };
    const outbound = request(
      { host: '127.0.0.1', port: portOf(), path: url, method, headers: forwarded },
      (said) => {
        answer.writeHead(said.statusCode ?? 502, said.headers);
        said.pipe(answer);
      },
    );
    inbound.pipe(outbound);
  };

beforeAll(async () => {
  if (!found) return;
  await keepConsole();
  const { cert, key } = await makeCertificate([CONSOLE]);
  let port = 0;
  const proxied = createSecureServer(
    { cert, key },
    proxyTo(() => port),
  );
  secureUrl = `https://${CONSOLE}:${await listen(proxied)}`;
  const env = { ...database.env, PUBLIC_URL: secureUrl, TRUSTED_PROXIES: '1' };
  const resources = new Resources();
  const deps = { ...database.deps, config: readConfig(env), resources };
  const listening = await openApi(deps, { isDraining: false }, true);
  ({ port } = listening);
  browser = await launch(found, { args: [...FLAGS, '--host-resolver-rules=MAP *.test 127.0.0.1'] });
  closing.push(
    () => browser.close(),
    () => listening.close(),
    () => resources.close(),
  );
}, 60_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

beforeEach(({ skip }) => skip(!found, NO_BROWSER));

const open = async (): Promise<Page> => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  closing.push(() => context.close());
  return context.newPage();
};
const cookiesOf = async (page: Page) =>
  (await page.context().cookies())
    .map(({ name, secure, httpOnly, sameSite }) => ({ name, secure, httpOnly, sameSite }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
const signIn = async (page: Page, url: string): Promise<void> => {
  await page.goto(`${url}/console`);
  await fillLogin(page);
  await page.waitForURL((at) => !at.pathname.includes('sign-in'));
};

test('over https the browser keeps __Host- cookies, and signs in with them', async () => {
  const page = await open();
  await signIn(page, secureUrl);
  const protectedWell = { secure: true, httpOnly: true, sameSite: 'Strict' };
  expect(await cookiesOf(page)).toEqual([
    { name: '__Host-trunkline_device', ...protectedWell },
    { name: '__Host-trunkline_session', ...protectedWell },
  ]);
  expect(await page.evaluate('document.cookie')).toBe('');
});

test('cookie tossing: a page of a sibling subdomain cannot replace the session, nor add one that counts', async () => {
  const page = await open();
  const { headers } = await fetch(`${api.url}/admin/trpc/session.signIn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(OWNER),
  });
  const attackers = headers.getSetCookie()[0]?.split(';')[0]?.split('=')[1] ?? '';
  const tossing = ['trunkline_session', '__Host-trunkline_session'].map(
    (name) => `${name}=${attackers}; Domain=shop.test; Path=/admin`,
  );
  const sibling = createServer((_, answer) => answer.setHeader('Set-Cookie', tossing).end('evil'));
  await page.goto(`http://${SIBLING}:${await listen(sibling)}/admin/`);
  // The browser kept the one without the prefix, and sends it to the Console.
  const kept = await page.context().cookies(`${secureUrl}/admin/trpc`);
  expect(kept.map(({ name }) => name)).toEqual(['trunkline_session']);
  const current = `${secureUrl}/admin/trpc/session.current`;
  await page.goto(`${secureUrl}/console`);
  const ask = () =>
    page.evaluate(async (url) => (await fetch(url)).text(), current) as Promise<string>;
  expect(JSON.parse(await ask())).toEqual({ result: { data: { person: null } } });
  await signIn(page, secureUrl);
  expect(JSON.parse(await ask()).result.data.person.email).toBe(OWNER.email);
});

test('over http on this machine both spellings sign in', async () => {
  for (const name of ['127.0.0.1', 'localhost']) {
    const page = await open();
    await signIn(page, api.url.replace('127.0.0.1', name));
    expect((await cookiesOf(page)).map((cookie) => [cookie.name, cookie.secure])).toEqual([
      ['trunkline_device', false],
      ['trunkline_session', false],
    ]);
  }
});

test('over http no browser stores a __Host- cookie of another machine: hence the name without it', async () => {
  const server = createServer((_, answer) =>
    answer
      .setHeader('Set-Cookie', ['__Host-a=1; Path=/; Secure; HttpOnly', 'plain=1; Path=/'])
      .end(),
  );
  const port = await listen(server);
  const stored: string[][] = [];
  for (const name of ['127.0.0.1', 'localhost', CONSOLE]) {
    const page = await open();
    await page.goto(`http://${name}:${port}/`);
    stored.push((await page.context().cookies()).map((cookie) => cookie.name).toSorted());
  }
  // This browser makes an exception for its own machine; Safari makes none.
  expect(stored).toEqual([['__Host-a', 'plain'], ['__Host-a', 'plain'], ['plain']]);
});
