import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resolveEgress } from '../../src/base/egress.ts';
import { resolveHost } from '../../src/base/resolve_host.ts';

const QTYPE_A = 1;
const ADDRESS_SECONDS = 60;

/** Name (as labels) and type of the question in a DNS message (RFC 1035). */
const questionOf = (message: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
};

/** An answer with these IPv4 addresses; none is "no such name". */
const answerTo = (message: Buffer, addresses: readonly string[]): Buffer => {
  const { type, end } = questionOf(message);
  const given = type === QTYPE_A ? addresses : [];
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(given.length, 6);
  header.writeUInt16BE(0, 10);
  const records = given.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(QTYPE_A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ADDRESS_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    Buffer.from(address.split('.').map(Number)).copy(record, 12);
    return record;
  });
  return Buffer.concat([header, message.subarray(12, end), ...records]);
};

/** A real name server on this machine: `zone` says what it answers; what is null it never answers. */
const startNameServer = async (zone: Record<string, string[] | null>) => {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name } = questionOf(message);
    asked.push(name);
    const addresses = Object.hasOwn(zone, name) ? zone[name] : [];
    if (addresses) socket.send(answerTo(message, addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  const servers = new Resolver({ timeout: 1_000, tries: 1 });
  servers.setServers([`127.0.0.1:${socket.address().port}`]);
  return { servers, asked };
};

test('a name has the addresses that its name server says', async () => {
  const { servers } = await startNameServer({ 'relay.example.test': ['1.1.1.1', '8.8.8.8'] });
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
  const { servers, asked } = await startNameServer({ localhost: ['1.1.1.1'] });
  const answers = await resolveHost('localhost', servers);
  expect(answers.every(({ address }) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
  expect(answers.length).toBeGreaterThan(0);
  expect(asked).toEqual([]);
});

test('a name that nobody answers for has no address, and holds up no other', async () => {
  const { servers } = await startNameServer({
    'silent.example.test': null,
    'quick.example.test': ['1.1.1.1'],
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
      'mixed.example.test': ['1.1.1.1', '10.0.0.1'],
      'inside.example.test': ['169.254.169.254'],
      'outside.example.test': ['1.1.1.1'],
    });
    const guard = (host: string) => resolveEgress(host, [], servers);
    expect(await guard('mixed.example.test')).toEqual({ kind: 'closed' });
    expect(await guard('inside.example.test')).toEqual({ kind: 'closed' });
    expect(await guard('outside.example.test')).toMatchObject({ kind: 'open', address: '1.1.1.1' });
  });

  test('and again at each connection: what it said before counts for nothing', async () => {
    const zone: Record<string, string[]> = { 'rebound.example.test': ['1.1.1.1'] };
    const { servers } = await startNameServer(zone);
    expect(await resolveEgress('rebound.example.test', [], servers)).toMatchObject({
      kind: 'open',
    });
    zone['rebound.example.test'] = ['127.0.0.1'];
    expect(await resolveEgress('rebound.example.test', [], servers)).toEqual({ kind: 'closed' });
  });
});
