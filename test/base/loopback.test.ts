import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLoopbackAddress, isLoopbackHost, parseHost } from '../../src/base/loopback.ts';

test.each(['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])(
  '%s is an address of this machine',
  (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
  },
);

test.each([
  '',
  '128.0.0.1',
  '10.0.0.1',
  '127.0.0.1.evil.example',
  '::2',
  '::ffff:10.0.0.1',
  'localhost',
])('%o is none', (address) => {
  expect(isLoopbackAddress(address)).toBe(false);
});

test.each([
  ['localhost', true],
  ['LOCALHOST:3000', true],
  ['127.0.0.1:3000', true],
  ['127.1', true],
  ['[::1]:3000', true],
  ['localhost.', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example', false],
  ['[::2]', false],
  ['0.0.0.0', false],
])('the Host %s names this machine: %s', (header, isLocal) => {
  const host = parseHost(header);
  expect(host !== null && isLoopbackHost(host.hostname)).toBe(isLocal);
});

test.each([
  '',
  ' ',
  'a b',
  'a@b',
  'a/b',
  'a?b',
  'a#b',
  'a\\b',
  'a:b',
  'a:',
  ':80',
  '[',
  '[::1',
  'ä.example',
  'a,b',
  'a:99999',
])('%o is no host', (header) => {
  expect(parseHost(header)).toBeNull();
});

test('a port is empty where it is the default of the protocol', () => {
  expect(parseHost('a.example:80')).toEqual({ hostname: 'a.example', port: '' });
  expect(parseHost('a.example:443', 'https:')).toEqual({ hostname: 'a.example', port: '' });
  expect(parseHost('a.example:443')).toEqual({ hostname: 'a.example', port: '443' });
});

test('any header is a host as a URL would have it, or none', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.webAuthority({ withUserInfo: true, withPort: true })),
      (header) => {
        const host = parseHost(header);
        if (host === null) return;
        const { hostname, port, username, pathname } = new URL(`http://${header}`);
        expect(host).toEqual({ hostname, port });
        expect([username, pathname]).toEqual(['', '/']);
      },
    ),
  );
});
