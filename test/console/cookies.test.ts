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
import { makePerson } from '../support/people.ts';
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
/** Who is signed in, as a script of the page's origin asks: with what the browser and its storage have. */
const currentOf = async (page: Page, url: string): Promise<{ email: string } | null> => {
  const ask = `fetch(${JSON.stringify(`${url}/admin/trpc/session.current`)}, { headers: {
    'Trunkline-Session-Proof': localStorage.getItem('trunkline.session_proof') ?? '',
  } }).then((answer) => answer.text(), String)`;
  const text = (await page.evaluate(ask)) as string;
  return text.startsWith('{') ? JSON.parse(text).result.data.person : null;
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
  await page.goto(`${secureUrl}/console`);
  expect(await currentOf(page, secureUrl)).toBeNull();
  await signIn(page, secureUrl);
  expect(await currentOf(page, secureUrl)).toMatchObject({ email: OWNER.email });
});

test('attack: a page at another port of 127.0.0.1 receives the cookie, and replaying it gives 401', async () => {
  const page = await open();
  await signIn(page, api.url);
  const received: string[] = [];
  const neighbor = createServer((inbound, answer) => {
    received.push(inbound.headers.cookie ?? '');
    answer.setHeader('content-type', 'text/html').end('<title>A tool</title>');
  });
  const neighborUrl = `http://127.0.0.1:${await listen(neighbor)}`;
  await page.goto(neighborUrl);
  const cookie = received[0] ?? '';
  expect(cookie).toMatch(/trunkline_session=[\w-]{43}(?:;|$)/);
  // As its own page: the browser sends the cookie again, and this origin's storage has no proof.
  expect(await page.evaluate('localStorage.length')).toBe(0);
  expect(await currentOf(page, api.url)).toBeNull();
  // As a program, which states whatever origin it likes.
  const headers = {
    cookie,
    origin: api.url,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
  const replay = (path: string, init: RequestInit = {}) =>
    fetch(`${api.url}${path}`, { headers, ...init }).then(({ status }) => status);
  const { project_id: projectId } = api.project;
  const input = encodeURIComponent(JSON.stringify({ projectId }));
  expect(await replay('/admin/trpc/account.sessions')).toBe(401);
  expect(await replay(`/admin/trpc/keys.list?input=${input}`)).toBe(401);
  expect(await replay(`/admin/preview/${projectId}/${crypto.randomUUID()}`)).toBe(401);
  const posted = {
    method: 'POST',
    body: JSON.stringify({ projectId, kind: 'server', password: OWNER.password }),
  };
  expect(await replay('/admin/trpc/keys.issue', posted)).toBe(401);
  // The Console goes on.
  await page.goto(`${api.url}/console`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await currentOf(page, api.url)).toMatchObject({ email: OWNER.email });
});

test('attack: a session cookie that a page at another port plants signs in to no account', async () => {
  const page = await open();
  await signIn(page, api.url);
  const attacker = await makePerson(database);
  const [planted = ''] = attacker.cookie.split('.');
  const neighbor = createServer((_, answer) => answer.setHeader('Set-Cookie', planted).end('evil'));
  await page.goto(`http://127.0.0.1:${await listen(neighbor)}`);
  await page.goto(`${api.url}/console`);
  await page.waitForURL((at) => at.pathname.includes('sign-in'));
  expect(await currentOf(page, api.url)).toBeNull();
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
