// A provider may close a connection that was kept at the very moment at which it is used again.
import { Resolver } from 'node:dns/promises';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Links } from '../../src/providers/links.ts';
import type { Settings } from '../../src/providers/settings.ts';
import type { Link } from '../../src/providers/transport.ts';
import { API_KEY, relaySink } from '../support/relay_sink.ts';
import { startRogue } from '../support/rogue.ts';
import { toWire } from './wire.ts';

const sink = relaySink();
beforeEach(() => sink.reset());

const KEY = 'provider/1';
const SETTINGS = { provider: 'relay_api', api_key: API_KEY } as const;
const message = toWire('send-1', Buffer.from('From: hello@acme.test\r\n\r\nHello\r\n'));

const openLinks = (relayApiUrl = `${sink.url}/v3`): Links => {
  const links = new Links({
    allowNetworks: ['127.0.0.0/8'],
    nameServers: new Resolver(),
    relayApiUrl,
    cloudApiUrl: null,
    ehloName: null,
    answerTimeoutMs: 60_000,
  });
  onTestFinished(() => links.close());
  return links;
};
const take = async (links: Links, settings: Settings = SETTINGS): Promise<Link> => {
  const outcome = await links.take(KEY, settings);
  if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.outcome));
  return outcome.link;
};
/** Lent, used, given back and lent again. */
const takeKept = async (links: Links): Promise<Link> => {
  const first = await take(links);
  expect((await first.send(message())).kind).toBe('accepted');
  links.give(KEY, first);
  const kept = await take(links);
  expect(kept).toBe(first);
  return kept;
};
/** The sink has a connection a moment after us. */
const dropIt = (link: Link) =>
  expect
    .poll(() => {
      sink.dropAll();
      return link.isOpen;
    })
    .toBe(false);

describe('a kept connection that is closed when it is used', () => {
  test('is replaced at once: the message goes once, over a new one, which is kept then', async () => {
    const links = openLinks();
    const kept = await takeKept(links);
    await dropIt(kept);
    const before = sink.connections;
    expect((await kept.send(message())).kind).toBe('accepted');
    expect(sink.requests).toHaveLength(2);
    expect(sink.connections).toBe(before + 1);
    expect(kept.isOpen).toBe(true);
    links.give(KEY, kept);
    expect((await (await take(links)).send(message())).kind).toBe('accepted');
    expect(sink.connections).toBe(before + 1);
  });

  test('is not replaced once the time to begin has passed', async () => {
    const kept = await takeKept(openLinks());
    await dropIt(kept);
    const before = sink.connections;
    const late = message({ mayStart: () => false });
    expect(await kept.send(late)).toMatchObject({ kind: 'deferred', reason: 'connection_failed' });
    expect(sink.connections).toBe(before);
  });

  test('is not repeated where something was written: nobody knows', async () => {
    const kept = await takeKept(openLinks());
    sink.play('/email/mime', 'drop');
    expect(await kept.send(message())).toEqual({ kind: 'unknown' });
    expect(sink.requests).toHaveLength(2);
  });
});

test('a connection that was never kept is not replaced: it has just been opened', async () => {
  const fresh = await take(openLinks());
  await dropIt(fresh);
  expect(await fresh.send(message())).toMatchObject({
    kind: 'deferred',
    reason: 'connection_failed',
  });
  expect(sink.requests).toEqual([]);
});

/** A relay that takes one message over each connection, and turns whoever comes with a second away, in half a line. */
const startImpatient = async () => {
  const said: string[] = [];
  const answers: Record<string, string> = {
    EHLO: '250 AUTH PLAIN',
    AUTH: '235 ok',
    DATA: '354 go on',
  };
  const { port } = await startRogue(async (socket) => {
    let taken = 0;
    let isBody = false;
    socket.write('220 relay.test\r\n');
    for await (const line of createInterface(socket)) {
      const [verb = ''] = line.split(' ');
      if (isBody && line !== '.') continue;
      said.push(verb);
      isBody = verb === 'DATA';
      if (line === '.') taken += 1;
      if (verb === 'MAIL' && taken > 0) socket.end('554 5.3.2 idle for too long');
      else socket.write(`${answers[verb] ?? '250 ok'}\r\n`);
    }
  });
  const login = { username: 'user', password: 'pass' };
  const where = { smtp_host: '127.0.0.1', smtp_port: port, smtp_secure: 'none' } as const;
  return { said, settings: { provider: 'smtp', ...where, ...login } as const };
};

test('a kept connection that is taken back with a 5xx is replaced, too', async () => {
  const { said, settings } = await startImpatient();
  const links = openLinks();
  const link = await take(links, settings);
  expect((await link.send(message())).kind).toBe('accepted');
  links.give(KEY, link);
  expect(await take(links, settings)).toBe(link);
  expect((await link.send(message())).kind).toBe('accepted');
  const ONCE = ['MAIL', 'RCPT', 'DATA', '.'];
  expect(said).toEqual(['EHLO', 'AUTH', ...ONCE, 'MAIL', 'EHLO', 'AUTH', ...ONCE]);
});
