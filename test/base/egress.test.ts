import { lookup, Resolver } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import * as egress from '../../src/base/egress.ts';

const servers = new Resolver({ timeout: 1_000, tries: 1 });
const resolveEgress = (host: string, allowNetworks: string[]) =>
  egress.resolveEgress(host, allowNetworks, servers);

const PUBLIC = ['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001::1'];

test.each(PUBLIC)('%s is open, and is what to connect to', async (address) => {
  expect(await resolveEgress(address, [])).toEqual({
    kind: 'open',
    address,
    isInAllowedNetwork: false,
  });
});

describe('closed to everybody', () => {
  test.each([
    ['this network', ['0.0.0.0', '0.1.2.3']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    [
      'private',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd00:ec2::254'],
    ],
    ['carrier-grade', ['100.64.0.1', '100.127.255.255', '100.100.100.200']],
    [
      'link-local and metadata',
      ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1', 'fec0::1'],
    ],
    ['protocol assignments', ['192.0.0.8', '192.0.0.192', '2001::1', '2001:1::1']],
    ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
    ['benchmarks', ['198.18.0.1', '198.19.255.255']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
    ['reserved and broadcast', ['240.0.0.1', '255.255.255.255', '5f00::1', '100::1']],
    ['unspecified', ['::', '0.0.0.0']],
    [
      'IPv4 mapped',
      ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ],
    ['IPv4 compatible', ['::127.0.0.1', '::10.0.0.1', '::a9fe:a9fe']],
    ['6to4', ['2002:7f00:1::', '2002:a9fe:a9fe::1', '192.88.99.1']],
    ['NAT64', ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1']],
    ['Teredo', ['2001:0:4136:e378:8000:63bf:3fff:fdd2']],
  ])('an address of %s is closed', async (_kind, addresses) => {
    for (const address of addresses)
      expect([address, await resolveEgress(address, [])]).toEqual([address, { kind: 'closed' }]);
  });

  test.each(['0x7f.1', '2130706433', '0177.0.0.1', '127.1', 'fe80::1%lo'])(
    'loopback spelled %s',
    async (host) => {
      expect(['closed', 'unresolvable']).toContain((await resolveEgress(host, [])).kind);
    },
  );

  test('the neighbours of closed networks are open', async () => {
    for (const address of [
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '172.15.0.1',
      '172.32.0.0',
      '192.167.1.1',
      '192.169.0.0',
      '198.17.0.1',
      '198.20.0.0',
      '223.255.255.255',
    ])
      expect(await resolveEgress(address, [])).toMatchObject({ kind: 'open' });
  });

  test('::ffff:1.1.1.1 is as open as what it carries', async () => {
    expect(await resolveEgress('::ffff:1.1.1.1', [])).toMatchObject({ kind: 'open' });
  });
});

describe('with an allow-list', () => {
  test('an allowed network is open and says that it is allowed', async () => {
    expect(await resolveEgress('10.1.2.3', ['10.1.0.0/16'])).toEqual({
      kind: 'open',
      address: '10.1.2.3',
      isInAllowedNetwork: true,
    });
  });

  test('its neighbours stay closed', async () => {
    for (const address of ['10.0.255.255', '10.2.0.0', '127.0.0.1', '::1'])
      expect(await resolveEgress(address, ['10.1.0.0/16'])).toEqual({ kind: 'closed' });
  });

  test('an IPv4 network on the list covers its mapped form', async () => {
    expect(await resolveEgress('::ffff:10.1.2.3', ['10.1.0.0/16'])).toMatchObject({
      isInAllowedNetwork: true,
    });
  });

  test('an IPv6 network on the list opens itself alone', async () => {
    expect(await resolveEgress('fd00::1', ['fd00::/8'])).toMatchObject({
      isInAllowedNetwork: true,
    });
    expect(await resolveEgress('fc00::1', ['fd00::/8'])).toEqual({ kind: 'closed' });
  });

  test('a public address is open, but not because of the list', async () => {
    expect(await resolveEgress('1.1.1.1', ['10.0.0.0/8'])).toMatchObject({
      kind: 'open',
      isInAllowedNetwork: false,
    });
  });
});

describe('a host name', () => {
  test('localhost is closed, and open with every network that its addresses are in', async () => {
    const addresses = await lookup('localhost', { all: true });
    expect(await resolveEgress('localhost', [])).toEqual({ kind: 'closed' });
    const answer = await resolveEgress('localhost', ['127.0.0.0/8', '::1/128']);
    expect(answer).toMatchObject({ kind: 'open', isInAllowedNetwork: true });
    expect(addresses.map(({ address }) => address)).toContain(
      answer.kind === 'open' ? answer.address : null,
    );
  });

  test('one address outside the list closes a name with several', async () => {
    const addresses = await lookup('localhost', { all: true });
    const isOnlyIpv4 = addresses.every(({ family }) => family === 4);
    const isOnlyIpv6 = addresses.every(({ family }) => family === 6);
    const ipv4 = await resolveEgress('localhost', ['127.0.0.0/8']);
    const ipv6 = await resolveEgress('localhost', ['::1/128']);
    expect(ipv4.kind).toBe(isOnlyIpv4 ? 'open' : 'closed');
    expect(ipv6.kind).toBe(isOnlyIpv6 ? 'open' : 'closed');
  });

  test.each(['does-not-exist.invalid', '', '[::1]', '256.256.256.256.256', 'a b', '::1::'])(
    '%j is unresolvable',
    async (host) => {
      expect(await resolveEgress(host, [])).toEqual({ kind: 'unresolvable' });
    },
  );

  test('a name with U+0000 inside is unresolvable, not an accident', async () => {
    expect(await resolveEgress('relay\0.example.com', [])).toEqual({ kind: 'unresolvable' });
  });
});
