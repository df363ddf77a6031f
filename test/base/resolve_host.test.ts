import { Resolver } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import { resolveEgress } from '../../src/base/egress.ts';
import { resolveHost } from '../../src/base/resolve_host.ts';
import { nameServer } from '../support/name_server.ts';
import type { Zone } from '../support/name_server.ts';

const startNameServer = async (zone: Zone) => {
  const { address, asked } = await nameServer(zone);
  const servers = new Resolver({ timeout: 1_000, tries: 1 });
  servers.setServers([address]);
  return { servers, asked };
};

test('a name has the addresses that its name server says', async () => {
  const { servers } = await startNameServer({
    'relay.example.test': { A: ['1.1.1.1', '8.8.8.8'] },
  });
  const answers = await resolveHost('relay.example.test', servers);
  expect(new Set(answers)).toEqual(
    new Set([
      { address: '1.1.1.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
    ]),
  );
});

test('an address is itself, and nobody is asked', async () => {
  const { servers, asked } = await startNameServer({});
  expect(await resolveHost('192.0.2.1', servers)).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(await resolveHost('2001:db8::1', servers)).toEqual([
    { address: '2001:db8::1', family: 6 },
  ]);
  expect(asked).toEqual([]);
});

test('a name without a dot is the machine’s own business', async () => {
  const { servers, asked } = await startNameServer({ localhost: { A: ['1.1.1.1'] } });
  const answers = await resolveHost('localhost', servers);
  expect(answers.every(({ address }) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
  expect(answers.length).toBeGreaterThan(0);
  expect(asked).toEqual([]);
});

test('a name that nobody answers for has no address, and holds up no other', async () => {
  const { servers } = await startNameServer({
    'silent.example.test': null,
    'quick.example.test': { A: ['1.1.1.1'] },
  });
  const settled: string[] = [];
  const ask = async (host: string) => {
    const answers = await resolveHost(host, servers);
    settled.push(host);
    return answers;
  };
  const silent = Array.from({ length: 50 }, () => ask('silent.example.test'));
  expect(await ask('quick.example.test')).toHaveLength(1);
  expect(settled).toEqual(['quick.example.test']);
  expect((await Promise.all(silent)).flat()).toEqual([]);
});

describe('the guard looks at every address of a name', () => {
  test('one private address among public ones closes it', async () => {
    const { servers } = await startNameServer({
      'mixed.example.test': { A: ['1.1.1.1', '10.0.0.1'] },
      'inside.example.test': { A: ['169.254.169.254'] },
      'outside.example.test': { A: ['1.1.1.1'] },
    });
    const guard = (host: string) => resolveEgress(host, [], servers);
    expect(await guard('mixed.example.test')).toEqual({ kind: 'closed' });
    expect(await guard('inside.example.test')).toEqual({ kind: 'closed' });
    expect(await guard('outside.example.test')).toMatchObject({ kind: 'open', address: '1.1.1.1' });
  });

  test('and again at each connection: what it said before counts for nothing', async () => {
    const zone: Zone = { 'rebound.example.test': { A: ['1.1.1.1'] } };
    const { servers } = await startNameServer(zone);
    expect(await resolveEgress('rebound.example.test', [], servers)).toMatchObject({
      kind: 'open',
    });
    zone['rebound.example.test'] = { A: ['127.0.0.1'] };
    expect(await resolveEgress('rebound.example.test', [], servers)).toEqual({ kind: 'closed' });
  });
});
