// Relays that do their worst: every wait ends in bounded time, whatever keeps the connection busy, and in bounded
// memory.
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Resolver } from 'node:dns/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { connectSmtp, preflightSmtp, REPLY_BYTES_MAX } from '../../src/providers/smtp.ts';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import type { Link } from '../../src/providers/transport.ts';
import {
  behindTls,
  drip,
  dripping,
  flood,
  startRogue,
  startUnaccepting,
} from '../support/rogue.ts';
import type { Behaviour } from '../support/rogue.ts';
import { startSmtpSink } from '../support/smtp_sink.ts';
import { toWire } from './wire.ts';

const PATIENCE_MS = 200;
const NETWORK = {
  allowNetworks: ['127.0.0.0/8'],
  nameServers: new Resolver(),
  ehloName: null,
  answerTimeoutMs: PATIENCE_MS,
  smtpTimeouts: {
    connectMs: PATIENCE_MS,
    openMs: 2 * PATIENCE_MS,
    commandsMs: PATIENCE_MS,
    bodyMs: PATIENCE_MS,
    quitMs: PATIENCE_MS,
  },
};
/** However busy the machine: an idle time-out that a drip resets would never fire. */
/** What the sockets on both sides hold beyond what was read. */
const BUFFERS_BYTES_MAX = 8 * 1024 * 1024;
const FAILED = { kind: 'failed', reason: 'connection_failed' };
const NOT_TAKEN = { kind: 'deferred', reason: 'connection_failed' };
const UNKNOWN = { kind: 'unknown' };

const settingsOf = (port: number, given: Partial<SmtpSettings> = {}): SmtpSettings => ({
  provider: 'smtp',
  smtp_host: '127.0.0.1',
  smtp_port: port,
  smtp_secure: 'none',
  username: 'user',
  password: 'pass',
  ...given,
});

type Step = 'greeting' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'end' | 'QUIT';
const USUAL: Record<Step, string> = {
  greeting: '220 relay.test ESMTP',
  EHLO: '250-relay.test\r\n250-STARTTLS\r\n250 AUTH PLAIN',
  STARTTLS: '220 go on',
  AUTH: '235 welcome',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  end: '250 ok',
  QUIT: '221 bye',
};

/** A relay that does as usual until one step, and there what the test says. */
const until =
  (step: Step, behave: Behaviour, usual = USUAL): Behaviour =>
  async (socket) => {
    const answer = (at: Step): void => {
      if (at === step) void behave(socket);
      else if (socket.writable) socket.write(`${usual[at]}\r\n`);
    };
    let isBody = false;
    answer('greeting');
    for await (const line of createInterface(socket)) {
      const [verb = ''] = line.split(' ');
      if (isBody && line !== '.') continue;
      isBody = verb === 'DATA';
      answer(line === '.' ? 'end' : (verb as Step));
      if (step === 'DATA' && isBody) return;
    }
  };

const silent: Behaviour = (socket) => void socket.resume();
const dripOf =
  (text: string): Behaviour =>
  (socket) =>
    drip(socket, text);
const floodOf =
  (text: string): Behaviour =>
  (socket) =>
    flood(socket, text);

const links: Link[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});
const preflightOf = (port: number, given: Partial<SmtpSettings> = {}) =>
  preflightSmtp(settingsOf(port, given), NETWORK);
const openTo = async (port: number): Promise<Link> => {
  const outcome = await connectSmtp(settingsOf(port), NETWORK);
  if (outcome.kind === 'failed') throw outcome.error;
  links.push(outcome.link);
  return outcome.link;
};
const message = toWire('send-1', Buffer.from('From: hello@acme.test\r\n\r\nHello\r\n'));

describe('opening a connection', () => {
  test('connection_failed: nobody accepts it, as behind a firewall that drops', async () => {
    expect(await preflightOf(await startUnaccepting())).toEqual(FAILED);
  });

  test('auth_not_offered: a relay that offers no login is sent no password', async () => {
    const said: string[] = [];
    const rogue = await startRogue(async (socket) => {
      socket.write('220 relay.test ESMTP\r\n');
      for await (const line of createInterface(socket)) {
        said.push(line.split(' ')[0] ?? '');
        if (socket.writable)
          socket.write(line.startsWith('EHLO') ? '250 relay.test\r\n' : '235 ok\r\n');
      }
    });
    expect(await preflightOf(rogue.port)).toEqual({ kind: 'failed', reason: 'auth_not_offered' });
    await expect.poll(rogue.open).toBe(0);
    expect(said).not.toContain('AUTH');
  });

  test.each<[string, Step, Behaviour]>([
    ['a greeting that never comes', 'greeting', silent],
    ['a greeting byte by byte', 'greeting', dripOf('220-welcome\r\n')],
    ['a greeting without end', 'greeting', floodOf('220-welcome\r\n')],
    ['a line without end', 'greeting', floodOf('2')],
    ['an EHLO that is not answered', 'EHLO', silent],
    ['extensions byte by byte', 'EHLO', dripOf('250-8BITMIME\r\n')],
    ['extensions without end', 'EHLO', floodOf('250-8BITMIME\r\n')],
    ['a password that is not answered', 'AUTH', silent],
    ['an answer to a password byte by byte', 'AUTH', dripOf('235-wait\r\n')],
    ['an answer to a password without end', 'AUTH', floodOf('235-wait\r\n')],
  ])('connection_failed: %s', async (_what, step, behave) => {
    const rogue = await startRogue(until(step, behave));
    expect(await preflightOf(rogue.port)).toEqual(FAILED);
    await expect.poll(rogue.open).toBe(0);
    expect(rogue.taken()).toBeLessThan(BUFFERS_BYTES_MAX);
  });

  test.each<[string, 'ssl' | 'starttls', Behaviour]>([
    ['TLS that is not answered', 'ssl', silent],
    [
      'TLS that is not answered after STARTTLS',
      'starttls',
      until('STARTTLS', (socket) => {
        socket.write('220 go on\r\n');
        socket.removeAllListeners('data');
      }),
    ],
  ])('connection_failed: %s', async (_what, smtp_secure, behave) => {
    const rogue = await startRogue(behave);
    expect(await preflightOf(rogue.port, { smtp_secure })).toEqual(FAILED);
    await expect.poll(rogue.open).toBe(0);
  });

  test.each(['ssl', 'starttls'] as const)(
    'connection_failed: with %s, a real handshake byte by byte',
    async (secure) => {
      const relay = await startSmtpSink({ secure });
      const rogue = await startRogue(dripping(relay.settings.smtp_port));
      expect(await preflightOf(rogue.port, { smtp_secure: secure })).toEqual(FAILED);
      await relay.close();
    },
  );

  test('connection_failed: a greeting byte by byte behind TLS', async () => {
    const rogue = await startRogue(await behindTls(dripOf('220-welcome\r\n')));
    expect(await preflightOf(rogue.port, { smtp_secure: 'ssl' })).toEqual(FAILED);
    await expect.poll(rogue.open).toBe(0);
  });

  test('a reply is read up to 64 KiB, and not a line further', async () => {
    const lineOf = (bytes: number) => `220-${'x'.repeat(bytes - 4)}`;
    const greet = (bytes: number) =>
      until('greeting', (socket) => void socket.write(`${lineOf(bytes - 7)}\r\n220 ok\r\n`));
    const taken = await startRogue(greet(REPLY_BYTES_MAX));
    expect(await preflightOf(taken.port)).toEqual({ kind: 'passed' });
    const refused = await startRogue(greet(REPLY_BYTES_MAX + 8));
    expect(await preflightOf(refused.port)).toEqual(FAILED);
  });
});

describe('a message', () => {
  const sendTo = async (step: Step, behave: Behaviour, usual = USUAL) => {
    const rogue = await startRogue(until(step, behave, usual));
    const link = await openTo(rogue.port);
    const outcome = await link.send(message());
    expect(link.isOpen).toBe(false);
    await expect.poll(rogue.open).toBe(0);
    expect(rogue.taken()).toBeLessThan(BUFFERS_BYTES_MAX);
    return outcome;
  };

  test.each<[string, Step, Behaviour]>([
    ['MAIL is not answered', 'MAIL', silent],
    ['MAIL is answered byte by byte', 'MAIL', dripOf('250-ok\r\n')],
    ['RCPT is answered byte by byte', 'RCPT', dripOf('250-ok\r\n')],
    ['RCPT is answered without end', 'RCPT', floodOf('250-ok\r\n')],
    ['DATA is answered byte by byte', 'DATA', dripOf('354-go\r\n')],
  ])('not taken, to be tried again: %s', async (_what, step, behave) => {
    expect(await sendTo(step, behave)).toMatchObject(NOT_TAKEN);
  });

  describe('the connection ends before DATA, which came along, is answered', () => {
    const PIPELINED = { ...USUAL, EHLO: '250-relay.test\r\n250-PIPELINING\r\n250 AUTH PLAIN' };
    const refusing =
      (reply: string): Behaviour =>
      (socket) =>
        void socket.end(`${reply}\r\n`);

    test('rejected: RCPT was refused, as Postfix does under stress', async () => {
      const refused = refusing('550 5.1.1 no such user');
      expect(await sendTo('RCPT', refused, PIPELINED)).toMatchObject({
        kind: 'rejected',
        reason: 'recipient_refused',
        bounce: { type: 'hard' },
      });
    });

    test('to be tried again: RCPT was deferred', async () => {
      expect(await sendTo('RCPT', refusing('450 4.2.0 Greylisted'), PIPELINED)).toMatchObject({
        kind: 'deferred',
        waits: 'send',
      });
    });

    test('sender_not_verified: MAIL was refused', async () => {
      expect(await sendTo('MAIL', refusing('550 5.7.1 not yours'), PIPELINED)).toMatchObject({
        kind: 'deferred',
        reason: 'sender_not_verified',
      });
    });

    test('not taken, to be tried again: nothing was refused', async () => {
      expect(await sendTo('RCPT', refusing('250 ok'), PIPELINED)).toMatchObject(NOT_TAKEN);
    });
  });

  test('unknown: a large one is taken in a few bytes at a time', async () => {
    const raw = Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(500_000));
    const slowly = (socket: Socket): void => {
      socket.write('354 go on\r\n');
      socket.pause();
      const timer = setInterval(() => socket.read(1_000), 20);
      socket.once('close', () => clearInterval(timer));
    };
    const rogue = await startRogue(until('DATA', slowly));
    const link = await openTo(rogue.port);
    expect(await link.send(message({ raw }))).toEqual(UNKNOWN);
    expect(link.isOpen).toBe(false);
  });

  test.each<[string, Behaviour]>([
    ['not at all', silent],
    ['byte by byte', dripOf('250-wait\r\n')],
    ['without end', floodOf('250-wait\r\n')],
    ['with a line without end', floodOf('2')],
    ['with what is no reply', (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['with nothing, and the end', (socket) => void socket.end()],
    ['with yes and no', (socket) => void socket.write('250-more\r\n550 no\r\n')],
    ['with no and yes', (socket) => void socket.write('550-no\r\n250 OK\r\n')],
  ])('unknown: its end is answered %s', async (_what, behave) => {
    expect(await sendTo('end', behave)).toEqual(UNKNOWN);
  });
});

test.each<[string, Behaviour]>([
  ['silent', silent],
  ['byte by byte', dripOf('221-bye\r\n')],
])('a farewell that is %s holds no connection', async (_what, behave) => {
  const rogue = await startRogue(until('QUIT', behave));
  (await openTo(rogue.port)).close();
  await expect.poll(rogue.open).toBe(0);
});
