// Who reads /metrics: attacks with headers, through a proxy on this machine, and by DNS rebinding.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { consoleAt } from '../support/console_at.ts';
import type { Wire } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const TOKEN = 'a-token-for-metrics';
const open = consoleAt(database, {});
const closed = consoleAt(database, { METRICS_TOKEN: TOKEN });

const LOCAL = { host: '127.0.0.1' };
const read = async (headers: Wire) => (await open.ask('GET', '/metrics', headers)).status;
const readWith = async (authorization: string | string[], more: Wire = LOCAL) =>
  (await closed.ask('GET', '/metrics', { ...more, authorization })).status;

describe('with a token', () => {
  test('who brings it reads, from anywhere, and the scheme is in any case', async () => {
    expect(await readWith(`Bearer ${TOKEN}`)).toBe(200);
    expect(await readWith(`bearer  ${TOKEN}`, { host: 'metrics.example', via: 'a' })).toBe(200);
  });

  test.each([
    ['nothing', ''],
    ['another scheme', `Basic ${TOKEN}`],
    ['no scheme', TOKEN],
    ['one character more', `Bearer ${TOKEN}x`],
    ['one character less', `Bearer ${TOKEN.slice(1)}`],
    ['as many characters in more bytes', `Bearer ${TOKEN.slice(1)}é`],
    ['bytes that are no UTF-8', `Bearer ${TOKEN.slice(1)}\u00ff`],
    ['a very long one', `Bearer ${'x'.repeat(12_000)}`],
    ['two, the right one first', [`Bearer ${TOKEN}`, 'Bearer x']],
    ['two right ones', [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]],
  ])('401, never 500, to %s', async (_, authorization) => {
    expect(await readWith(authorization)).toBe(401);
  });

  test('401: without the header, also for this machine', async () => {
    expect((await closed.ask('GET', '/metrics', LOCAL)).status).toBe(401);
  });

  test('no header is answered 500', async () => {
    const headerChar = fc
      .integer({ min: 0x20, max: 0xff })
      .map((code) => String.fromCharCode(code));
    const header = fc.array(headerChar, { maxLength: 60 }).map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(header, fc.boolean(), async (text, isBearer) => {
        fc.pre(!text.includes('\x7f'));
        const sameLength = `Bearer ${text.padEnd(TOKEN.length, 'é').slice(0, TOKEN.length)}`;
        expect(await readWith(isBearer ? sameLength : text)).toBe(401);
      }),
      { numRuns: 200 },
    );
  });
});

describe('without a token', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:3000'])(
    'this machine reads, as %s',
    async (host) => {
      expect(await read({ host })).toBe(200);
    },
  );

  test.each([
    ['a name that was made to lead here', 'evil.example'],
    ['the same with a port', `evil.example:3000`],
    ['the name of the installation', 'console.example.com'],
    ['a name that begins alike', '127.0.0.1.evil.example'],
    ['an address of another network', '10.0.0.5'],
  ])('401: DNS rebinding, %s', async (_, host) => {
    expect(await read({ host })).toBe(401);
  });

  test.each([
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'via',
    'x-real-ip',
  ])('401: a proxy on this machine asks for somebody else, and says so in %s', async (name) => {
    expect(await read({ ...LOCAL, [name]: '127.0.0.1' })).toBe(401);
    expect(await read({ ...LOCAL, [name.toUpperCase()]: '' })).toBe(401);
  });

  test('401: two Host headers', async () => {
    expect(await read({ host: ['127.0.0.1', 'evil.example'] })).toBe(401);
  });
});
