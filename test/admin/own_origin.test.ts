// Whose pages the Console and the admin API answer: attacks by a web page, a name server and a sibling domain.
import { describe, expect, test } from 'vitest';
import { findOwnOrigin } from '../../src/admin/own_origin.ts';
import { consoleAt, cookiesOf, errorOf } from '../support/console_at.ts';
import type { Said, Wire } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
const PUBLIC = 'https://console.example.com';
const HOST = 'console.example.com';
/** Behind https, as the internet sees it. */
const secure = consoleAt(database, { PUBLIC_URL: `${PUBLIC}/`, TRUSTED_PROXIES: '1' });
/** On a developer's machine. */
const local = consoleAt(database, {});

const signIn = async (headers: Wire = {}) => {
  const { email } = await makePerson(database);
  const input = { email, password: PASSWORD, remember_device: true };
  return secure.call('session.signIn', input, { host: HOST, ...headers });
};
const openedBy = ({ headers, text }: Said): string =>
  sessionOf(headers['set-cookie'] ?? [], JSON.parse(text));
const open = async () => openedBy(await signIn());
const current = async (headers: Wire) => {
  const { status, text } = await secure.ask('GET', '/admin/trpc/session.current', headers);
  expect(status).toBe(200);
  return (JSON.parse(text) as { result: { data: { person: object | null } } }).result.data.person;
};
const signOut = (headers: Wire) => secure.call('session.signOut', {}, { host: HOST, ...headers });

describe('with PUBLIC_URL of https', () => {
  test('the cookies are __Host- and Secure, although this hop of the request is plain http', async () => {
    const { status, headers } = await signIn({ 'x-forwarded-proto': 'http' });
    expect(status).toBe(200);
    const lines = headers['set-cookie'] ?? [];
    expect(lines).toHaveLength(2);
    for (const [at, name] of ['session', 'device'].entries())
      expect(lines[at]).toMatch(
        new RegExp(
          `^__Host-trunkline_${name}=[\\w-]{43}; Max-Age=\\d+; Path=/; HttpOnly; SameSite=Strict; Secure$`,
        ),
      );
  });

  test('cookie tossing: a session cookie without the prefix, as a sibling subdomain sets, is ignored', async () => {
    const cookie = await open();
    const tossed = cookie.replace('__Host-', '');
    expect(await current({ host: HOST, cookie })).not.toBeNull();
    expect(await current({ host: HOST, cookie: tossed })).toBeNull();
    // The attacker's session beside the owner's: the owner's counts.
    const [attackers = ''] = (await open()).replace('__Host-', '').split('.');
    expect(await current({ host: HOST, cookie: `${attackers}; ${cookie}` })).toEqual(
      await current({ host: HOST, cookie }),
    );
  });

  test('cookie tossing: two session cookies of one name are refused, whichever comes first', async () => {
    const [owners, attackers] = [await open(), await open()];
    for (const cookie of [
      `${owners}; ${attackers}`,
      `${attackers}; ${owners}`,
      `${owners}; ${owners}`,
      [owners, attackers],
    ]) {
      const answer = await secure.ask('GET', '/admin/trpc/session.current', { host: HOST, cookie });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({
        message: 'invalid_request',
        detail: expect.stringContaining('Delete the cookies of this site'),
      });
    }
  });

  test('a change is accepted from the origin of PUBLIC_URL', async () => {
    const cookie = await open();
    expect(
      (await signOut({ cookie, origin: PUBLIC, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(200);
  });

  test.each([
    ['another scheme', 'http://console.example.com'],
    ['another port', 'https://console.example.com:8443'],
    ['a sibling domain', 'https://evil.example.com'],
    ['a longer name', 'https://console.example.com.evil.example'],
    ['the Host header of an attacker', 'https://evil.example'],
    ['a sandboxed page', 'null'],
    ['another spelling', 'https://CONSOLE.example.com'],
    ['two origins', 'https://console.example.com, https://console.example.com'],
  ])('403 foreign_origin: log-out CSRF from %s', async (_, origin) => {
    const cookie = await open();
    const answer = await signOut({ cookie, origin });
    expect([answer.status, errorOf(answer).message]).toEqual([403, 'foreign_origin']);
    expect(errorOf(answer).detail).toContain(PUBLIC);
    expect(await current({ host: HOST, cookie })).not.toBeNull();
  });

  test('403: an Origin that equals the Host header does not help a foreign host', async () => {
    const cookie = await open();
    const answer = await signOut({ host: 'evil.example', cookie, origin: 'https://evil.example' });
    expect([answer.status, errorOf(answer).message]).toEqual([403, 'foreign_host']);
  });

  test.each(['cross-site', 'same-site'])(
    '403 foreign_origin: the browser says %s, whatever the Origin is',
    async (site) => {
      const cookie = await open();
      for (const more of [{}, { origin: PUBLIC }])
        expect((await signOut({ cookie, 'sec-fetch-site': site, ...more })).status).toBe(403);
      const read = { host: HOST, cookie, 'sec-fetch-site': site };
      expect((await secure.ask('GET', '/admin/trpc/session.current', read)).status).toBe(403);
    },
  );

  test('403 foreign_origin: login CSRF, a page of another site signs a browser in', async () => {
    const { email } = await makePerson(database);
    const login = { email, password: PASSWORD };
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const answer = await secure.call('session.signIn', login, { host: HOST, ...headers });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    }
  });

  test('a program without Origin and cookie signs in', async () => {
    expect((await signIn()).status).toBe(200);
  });

  test.each([
    ['a name of the attacker', { host: 'evil.example' }],
    ['this machine', { host: '127.0.0.1' }],
    ['the name with another port', { host: 'console.example.com:3000' }],
    ['a name with a dot at its end', { host: 'console.example.com.' }],
    ['two Host headers', { host: [HOST, 'evil.example'] }],
    ['what a proxy was asked for', { host: HOST, 'x-forwarded-host': 'evil.example' }],
    ['what is no host', { host: 'console.example.com@evil.example' }],
  ] as [string, Wire][])(
    '403 foreign_host: DNS rebinding, the request names %s',
    async (_, headers) => {
      const read = await secure.ask('GET', '/admin/trpc/session.current', headers);
      // A Host header that makes no address is refused before.
      expect([400, 403]).toContain(read.status);
      if (read.status === 403) expect(errorOf(read).message).toBe('foreign_host');
      const page = await secure.ask('GET', '/console', headers);
      expect(page.status).toBe(403);
      expect(page.text).toContain(PUBLIC);
      expect(page.headers['content-type']).toMatch(/^text\/plain/);
    },
  );

  test('the host that a trusted proxy was asked for counts, from the right', async () => {
    const of = (forwarded: string) => ({ host: '10.0.0.5:3000', 'x-forwarded-host': forwarded });
    expect(await current(of(HOST))).toBeNull();
    expect(await current(of(`evil.example, ${HOST}`))).toBeNull();
    expect((await secure.ask('GET', '/console', of(`${HOST}, evil.example`))).status).toBe(403);
  });

  test('clickjacking: no page frames the Console, and nothing of the admin API is readable elsewhere', async () => {
    const answer = await secure.ask('GET', '/admin/trpc/session.current', {
      host: HOST,
      origin: PUBLIC,
    });
    expect(answer.headers).toMatchObject({
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
    expect(cors).toEqual([]);
    const { headers } = await secure.ask('GET', '/console', { host: HOST });
    expect(headers['x-frame-options']).toBe('DENY');
    const preflight = await secure.ask('OPTIONS', '/admin/trpc/session.signIn', {
      host: HOST,
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
    });
    expect(preflight.status).toBe(405);
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('an unsubscribe is taken from anywhere: mail software sends no Origin of ours', async () => {
    for (const headers of [
      { host: 'links.example.net', origin: 'https://mail.example' },
      { host: HOST, 'sec-fetch-site': 'cross-site' },
    ])
      expect((await secure.ask('POST', '/u/some-token', headers, {})).status).toBe(200);
  });

  test('a mail preview is refused to a foreign host and to a page of another site', async () => {
    const path = '/admin/preview/a/b';
    const cookie = await open();
    expect((await secure.ask('GET', path, { host: HOST, cookie })).status).toBe(401);
    for (const headers of [
      { host: 'evil.example' },
      { host: HOST, 'sec-fetch-site': 'cross-site' },
    ])
      expect((await secure.ask('GET', path, { cookie, ...headers })).status).toBe(403);
  });
});

describe('on a developer’s machine, without PUBLIC_URL', () => {
  const signOutAt = async (host: string, origin: string) => {
    const { email } = await makePerson(database);
    const signedIn = await local.call('session.signIn', { email, password: PASSWORD }, { host });
    expect(signedIn.status).toBe(200);
    const cookie = openedBy(signedIn);
    return (await local.call('session.signOut', {}, { host, cookie, origin })).status;
  };
  const names = ['127.0.0.1', 'localhost', '[::1]'];

  test.each(names)(
    'a page of http://%s is the Console’s, at whichever port leads here',
    async (name) => {
      for (const port of [local.port, 8080])
        expect(await signOutAt(`${name}:${port}`, `http://${name}:${port}`)).toBe(200);
    },
  );

  test('a page of another port, scheme or spelling is another origin', async () => {
    const host = `127.0.0.1:${local.port}`;
    for (const origin of [
      `http://127.0.0.1:${local.port + 1}`,
      `https://127.0.0.1:${local.port}`,
      `http://localhost:${local.port}`,
      'http://127.0.0.1',
    ])
      expect(await signOutAt(host, origin)).toBe(403);
  });

  test('403 foreign_host: DNS rebinding, a name that leads to this machine is not this machine', async () => {
    for (const host of [
      `evil.example:${local.port}`,
      '192.168.1.7:3000',
      '127.0.0.1.evil.example',
    ]) {
      const answer = await local.ask('GET', '/admin/trpc/session.current', { host });
      expect([answer.status, errorOf(answer).message]).toEqual([403, 'foreign_host']);
      expect(errorOf(answer).detail).toContain('Without PUBLIC_URL');
    }
  });

  test('the cookies have no prefix: not every browser stores a Secure cookie over http', async () => {
    const { email } = await makePerson(database);
    const answer = await local.call(
      'session.signIn',
      { email, password: PASSWORD, remember_device: true },
      { host: 'localhost' },
    );
    expect(Object.keys(cookiesOf(answer))).toEqual(['trunkline_session', 'trunkline_device']);
    expect(answer.headers['set-cookie']?.join()).not.toContain('Secure');
  });
});

test.each([
  ['http://127.0.0.1:3000', 'localhost:3000', 'http://localhost:3000'],
  ['http://localhost:3000', '[::1]:3000', 'http://[::1]:3000'],
  ['http://localhost:3000', '127.0.0.1:3001', null],
  ['http://localhost:3000', '127.0.0.1', null],
  ['http://shop.example', 'shop.example', 'http://shop.example'],
  ['http://shop.example', 'shop.example:80', 'http://shop.example'],
  ['https://shop.example/mail', 'shop.example:443', 'https://shop.example'],
  ['https://shop.example', 'shop.example:80', null],
  ['https://shop.example', 'localhost', null],
])('PUBLIC_URL %s, Host %s: the Console’s origin is %s', (publicUrl, host, origin) => {
  expect(findOwnOrigin({ publicUrl, isPublicUrlSet: true }, host)).toBe(origin);
});
