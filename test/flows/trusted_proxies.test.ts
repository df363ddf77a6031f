// The service as it stands behind reverse proxies, from outside: whose address counts is what TRUSTED_PROXIES says.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { startService } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();
const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

/** A reverse proxy as they are: it says behind what it was told whom it was asked by, and by which protocol. */
const openProxy = async (port: number): Promise<number> => {
  const proxy = createServer((inbound, answer) => {
    const { 'x-forwarded-for': told, ...headers } = inbound.headers;
    const asker = inbound.socket.remoteAddress ?? '';
    const outbound = request(
      {
        host: '127.0.0.1',
        port,
        path: inbound.url,
        method: inbound.method,
        headers: {
          ...headers,
          'x-forwarded-for': [told, asker].flat().filter(Boolean).join(', '),
          'x-forwarded-proto': 'https',
        },
      },
      (said) => {
        answer.writeHead(said.statusCode ?? 502, said.headers);
        said.pipe(answer);
      },
    );
    inbound.pipe(outbound);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  closing.push(() => proxy.close());
  return (proxy.address() as AddressInfo).port;
};

const PER_SECOND = 1;
const GRANTED = PER_SECOND * WINDOW_SECONDS;

/** Asks as from this address, once more than one address may. Answers how often it was refused. */
const countRefused = async (port: number, addressOf: (at: number) => string | null) => {
  let refused = 0;
  for (let at = 0; at <= GRANTED; at += 1) {
    const address = addressOf(at);
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.project.publishable_key}`,
        'content-type': 'application/json',
        ...(address === null ? {} : { 'x-forwarded-for': address }),
      },
      body: JSON.stringify({ event: 'page_viewed', anonymous_id: `device-${at}` }),
    });
    expect([202, 429]).toContain(status);
    if (status === 429) refused += 1;
  }
  return refused;
};

const started = new Map<number, Promise<Service>>();
/** The process that trusts so many proxies. Each test has addresses of its own: what is used up stays so. */
const trusting = (trusted: number): Promise<Service> => {
  const known = started.get(trusted);
  if (known) return known;
  const service = world.start('api', {
    TRUSTED_PROXIES: String(trusted),
    RATE_LIMIT_ADDRESS: String(PER_SECOND),
    RATE_LIMIT_PUBLISHABLE: '0',
    UNIT_LIMIT_PUBLISHABLE: '0',
    UNIT_LIMIT_ADDRESS: '0',
    UNIT_LIMIT_ANONYMOUS: '0',
  });
  started.set(trusted, service);
  return service;
};
const another = (at: number) => `192.0.2.${at}`;
const behindTwo = (at: number) => `203.0.113.${at}`;

const alike = () => '198.51.100.7';

describe('requests from one address are counted together', () => {
  test('0: whatever a header says, it is who is connected', async () => {
    const { port } = await trusting(0);
    expect(await countRefused(port, another)).toBeGreaterThan(0);
  });

  test('1: it is whom the proxy names, each for itself', async () => {
    const { port } = await trusting(1);
    // Without a proxy in between, the header is the proxy's word.
    expect(await countRefused(port, another)).toBe(0);
    expect(await countRefused(port, alike)).toBeGreaterThan(0);
  });

  test('1: what somebody sends the proxy about themselves counts for nothing', async () => {
    const { port } = await trusting(1);
    expect(await countRefused(await openProxy(port), another)).toBeGreaterThan(0);
  });

  test('1: what is no address in the header counts for nothing: whoever is connected does', async () => {
    const { port } = await trusting(1);
    expect(await countRefused(port, (at) => `unknown-${at}`)).toBeGreaterThan(0);
  });

  test('1: each connection of a client counts as the same address, whatever port the proxy adds', async () => {
    const { port } = await trusting(1);
    expect(await countRefused(port, (at) => `198.51.100.99:${4_000 + at}`)).toBeGreaterThan(0);
  });

  test('2: spoofing past the proxies, a header with fewer entries than promised counts for nothing', async () => {
    const { port } = await trusting(2);
    expect(await countRefused(port, (at) => `203.0.113.${100 + at}`)).toBeGreaterThan(0);
  });

  test('2: behind two proxies it is whom the outer one names, whatever it was told', async () => {
    const { port } = await trusting(2);
    const outer = await openProxy(await openProxy(port));
    const told = (at: number) => `198.51.100.1, ${another(at)}`;
    expect(await countRefused(outer, told)).toBeGreaterThan(0);
    // The inner proxy alone is told by the outer one.
    expect(await countRefused(await openProxy(port), behindTwo)).toBe(0);
  });
});

describe('a session of the Console', () => {
  const PUBLIC_URL = 'https://console.example.com';
  const signIn = (port: number): Promise<{ status: number; cookies: string }> =>
    makePerson(world).then(
      ({ email }) =>
        new Promise((resolve, reject) => {
          const headers = { host: 'console.example.com', 'content-type': 'application/json' };
          const path = '/admin/trpc/session.signIn';
          const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers });
          sent.on('error', reject).on('response', (answer) => {
            const cookies = (answer.headers['set-cookie'] ?? []).join();
            resolve({ status: answer.resume().statusCode ?? 0, cookies });
          });
          sent.end(JSON.stringify({ email, password: PASSWORD, remember_device: true }));
        }),
    );

  test('is kept for https alone where PUBLIC_URL is https, whatever the proxies say', async () => {
    const { port } = await world.start('api', { PUBLIC_URL, TRUSTED_PROXIES: '1' });
    for (const at of [port, await openProxy(port)]) {
      const { status, cookies } = await signIn(at);
      expect(status).toBe(200);
      expect(cookies).toMatch(
        /^__Host-trunkline_session=[^,]+; Secure,__Host-trunkline_device=[^,]+; Secure$/,
      );
    }
  });
});

describe('the log says', () => {
  /** Starts an api and returns what it complains of until it is ready and was asked something. */
  const complaintsOf = async (env: Record<string, string>, headers = {}): Promise<string[]> => {
    const lines: string[] = [];
    const service = await startService({
      env: { ...world.env, ROLE: 'api', ...env },
      onLine: (line) => lines.push(line),
    });
    for (const path of ['/docs', '/healthz', '/docs'])
      await (await fetch(`http://127.0.0.1:${service.port}${path}`, { headers })).text();
    await service.stop();
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  };
  const PUBLIC_URL = 'https://console.example.com';

  test('what to set, and why, where PUBLIC_URL is https and TRUSTED_PROXIES is not set', async () => {
    const [said = '', ...more] = await complaintsOf({ PUBLIC_URL });
    expect(said).toMatch(
      /TRUSTED_PROXIES is 0.*all visitors share.*Set TRUSTED_PROXIES to the number/,
    );
    expect(said).toMatch(/unknown keys.*refuse keys and sessions/);
    expect(more).toEqual([]);
  });

  test('nothing of that with TRUSTED_PROXIES, and nothing over http', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await complaintsOf({ PUBLIC_URL, TRUSTED_PROXIES: '1' }, headers)).toEqual([]);
    expect(await complaintsOf({ PUBLIC_URL: 'http://shop.example' })).toEqual([]);
  });

  test('once that X-Forwarded-For has fewer addresses than TRUSTED_PROXIES, and what to set', async () => {
    const [said = '', ...more] = await complaintsOf(
      { TRUSTED_PROXIES: '2' },
      { 'x-forwarded-for': '192.0.2.1' },
    );
    expect(said).toMatch(/TRUSTED_PROXIES is 2, but .*fewer addresses.*Set TRUSTED_PROXIES to/);
    expect(more).toEqual([]);
  });
});

test('/metrics is for this machine, and a proxy on it is not asked for somebody else', async () => {
  const { port } = await trusting(1);
  const ask = (at: number) => fetch(`http://127.0.0.1:${at}/metrics`);
  expect((await ask(port)).status).toBe(200);
  expect((await ask(await openProxy(port))).status).toBe(401);
});
