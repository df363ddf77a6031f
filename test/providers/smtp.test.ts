import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { lookup, Resolver } from 'node:dns/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectSmtp, preflightSmtp } from '../../src/providers/smtp.ts';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { classify } from '../../src/providers/smtp_errors.ts';
import type { Link, WireMessage } from '../../src/providers/transport.ts';
import { smtpSink, startSmtpSink } from '../support/smtp_sink.ts';
import type { Action, SinkOptions, Stage } from '../support/smtp_script.ts';
import { toWire } from './wire.ts';

const LOCAL = {
  allowNetworks: ['127.0.0.0/8', '::1/128'],
  nameServers: new Resolver(),
  ehloName: null,
  answerTimeoutMs: 60_000,
};
const sink = smtpSink();
beforeEach(() => sink.reset());

const RAW = Buffer.from(
  [
    'From: hello@acme.test',
    'Message-ID: <send-1.1@acme.test>',
    'X-Trunkline-Send-Id: send-1',
    '',
    'Hello',
    '.one dot',
    '..two dots',
    '.',
    'Ünd äus.',
    '',
  ].join('\r\n'),
);
const message = toWire('send-1', RAW);

const links: Link[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});
const open = async (settings: SmtpSettings = sink.settings): Promise<Link> => {
  const outcome = await connectSmtp(settings, LOCAL);
  if (outcome.kind === 'failed') throw outcome.error;
  links.push(outcome.link);
  return outcome.link;
};
const send = async (changes: Partial<WireMessage> = {}) => (await open()).send(message(changes));
const preflight = (changes: Partial<SmtpSettings> = {}) =>
  preflightSmtp({ ...sink.settings, ...changes }, LOCAL);
/** The preflight's answer about a sink of other options. */
const preflightOf = async (options: SinkOptions, changes: Partial<SmtpSettings> = {}) => {
  const other = await startSmtpSink(options);
  try {
    return await preflightSmtp({ ...other.settings, ...changes }, LOCAL);
  } finally {
    await other.close();
  }
};
const failed = (reason: string) => ({ kind: 'failed', reason });

describe('a connection', () => {
  test('passes with STARTTLS and the right password, and sends nothing', async () => {
    expect(await preflight()).toEqual({ kind: 'passed' });
    expect(sink.mails).toEqual([]);
  });

  test('passes with TLS from the first byte', async () => {
    expect(await preflightOf({ secure: 'ssl' })).toEqual({ kind: 'passed' });
  });

  test('passes without TLS in an allowed network', async () => {
    expect(await preflightOf({ secure: 'none' })).toEqual({ kind: 'passed' });
  });

  test('is checked against the name it was asked for, not the address it went to', async () => {
    const { address: host } = await lookup('localhost', { verbatim: true });
    const named = { smtp_host: 'localhost' };
    expect(await preflightOf({ host, hosts: ['localhost'] }, named)).toEqual({ kind: 'passed' });
    expect(await preflightOf({ host, hosts: [host] }, named)).toEqual(
      failed('certificate_invalid'),
    );
    expect(await preflightOf({ host, hosts: [host] })).toEqual({ kind: 'passed' });
    expect(await preflightOf({ host, hosts: ['localhost'] })).toEqual(
      failed('certificate_invalid'),
    );
  });

  test.each(['starttls', 'ssl'] as const)(
    'certificate_invalid: with %s, an authority that nobody knows',
    async (secure) => {
      expect(await preflightOf({ secure, trusted: false })).toEqual(failed('certificate_invalid'));
    },
  );

  test.each(['starttls', 'ssl'] as const)(
    'certificate_invalid: with %s, one of an authority that is known, and has run out',
    async (secure) => {
      const madeAt = new Date('2020-01-01T00:00:00Z');
      expect(await preflightOf({ secure, madeAt })).toEqual(failed('certificate_invalid'));
    },
  );

  test('authentication_failed: a wrong password', async () => {
    expect(await preflight({ password: 'wrong' })).toEqual(failed('authentication_failed'));
    expect(await preflight({ username: 'nobody' })).toEqual(failed('authentication_failed'));
  });

  test('auth_not_offered: a relay without AUTH, whatever it says of one that comes all the same', async () => {
    expect(await preflightOf({ offersAuth: false })).toEqual(failed('auth_not_offered'));
    for (const code of [500, 502, 503, 504, 538]) {
      sink.play('auth', { code }, { times: 1 });
      expect(await preflight()).toEqual(failed('auth_not_offered'));
    }
  });

  test('tls_required: no password goes over a public network in clear, and nobody is connected to', async () => {
    const inPublic = { ...sink.settings, smtp_host: '192.31.196.1', smtp_secure: 'none' as const };
    expect(await preflightSmtp(inPublic, LOCAL)).toEqual(failed('tls_required'));
    const nobody = { ...inPublic, smtp_host: '10.0.0.1' };
    expect(await preflightSmtp(nobody, LOCAL)).toEqual(failed('connection_failed'));
  });

  test('starttls_not_offered: a relay without it gets no password', async () => {
    expect(await preflightOf({ secure: 'none' }, { smtp_secure: 'starttls' })).toEqual(
      failed('starttls_not_offered'),
    );
    sink.play('starttls', { code: 503 }, { times: 1 });
    expect(await preflight()).toEqual(failed('starttls_not_offered'));
  });

  test('connection_failed: a closed port, a name that does not exist, TLS on a plain port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await preflight({ smtp_port: port })).toEqual(failed('connection_failed'));
    expect(await preflight({ smtp_host: 'relay.invalid' })).toEqual(failed('connection_failed'));
    expect(await preflight({ smtp_secure: 'ssl' })).toEqual(failed('connection_failed'));
  });

  test('connection_failed: a private address that no setting allows is not even tried', async () => {
    const before = sink.connections;
    expect(await preflightSmtp(sink.settings, { ...LOCAL, allowNetworks: [] })).toEqual(
      failed('connection_failed'),
    );
    expect(sink.connections).toBe(before);
  });

  test.each<[Stage, Action, string]>([
    ['connect', 'drop', 'connection_failed'],
    ['connect', { code: 554 }, 'connection_refused_by_policy'],
    ['connect', { code: 421 }, 'provider_unavailable'],
    ['starttls', 'drop', 'connection_failed'],
    ['starttls', { code: 454 }, 'provider_unavailable'],
    ['auth', 'drop', 'connection_failed'],
    ['auth', { code: 454 }, 'provider_unavailable'],
    ['auth', { code: 451 }, 'provider_unavailable'],
    ['auth', { code: 421 }, 'provider_unavailable'],
    ['auth', { code: 535 }, 'authentication_failed'],
    ['auth', { code: 530 }, 'authentication_failed'],
  ])('at %s, %j is %s', async (stage, action, reason) => {
    sink.play(stage, action);
    expect(await preflight()).toEqual(failed(reason));
  });
});

describe('a message', () => {
  test('accepted: arrives byte for byte, with its envelope, once', async () => {
    const before = performance.timeOrigin + performance.now();
    expect(await send()).toMatchObject({ kind: 'accepted', providerMessageId: null });
    const [mail, ...others] = await sink.waitFor(1);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      from: 'hello@acme.test',
      to: ['ada@example.test'],
      message_id: '<send-1.1@acme.test>',
      send_id: 'send-1',
      answer: 250,
    });
    expect(mail?.raw.toString()).toBe(RAW.toString());
    expect(mail?.firstByteAt).toBeGreaterThan(before);
    expect(mail?.receivedAt).toBeGreaterThanOrEqual(mail?.firstByteAt ?? Infinity);
  });

  test('accepted: arrives byte for byte wherever its halves are split, and read slowly', async () => {
    const link = await open();
    const body = '\r\n.\r\n..\r\n.x\r\n';
    for (let length = 0; length < body.length; length += 1) {
      const raw = Buffer.from(`A: ${'x'.repeat(length)}\r\n${body}`);
      expect(await link.send(message({ raw }))).toMatchObject({ kind: 'accepted' });
      expect(sink.mails.at(-1)?.raw.toString()).toBe(raw.toString());
    }
    const raw = Buffer.from(`A: b\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(20_000)}`);
    sink.play('body', { bytesPerSecond: 10_000_000 });
    expect(await link.send(message({ raw }))).toMatchObject({ kind: 'accepted' });
    expect(sink.mails.at(-1)?.raw.equals(raw)).toBe(true);
  });

  test('accepted: several go over one connection', async () => {
    const link = await open();
    const before = sink.connections;
    for (let i = 0; i < 3; i += 1) expect((await link.send(message())).kind).toBe('accepted');
    expect(link.isOpen).toBe(true);
    expect([sink.mails.length, sink.connections]).toEqual([3, before]);
  });

  test.each<[Stage, Action, object]>([
    ['mail', { code: 550 }, { kind: 'deferred', reason: 'sender_not_verified', waits: 'park' }],
    ['mail', { code: 451 }, { kind: 'deferred', reason: 'provider_unavailable' }],
    ['mail', 'drop', { kind: 'deferred', reason: 'connection_failed' }],
    ['rcpt', { code: 550 }, { kind: 'deferred', reason: 'provider_unavailable' }],
    ['rcpt', { code: 450 }, { kind: 'deferred', reason: 'recipient_deferred', waits: 'send' }],
    ['rcpt', 'drop', { kind: 'deferred', reason: 'connection_failed' }],
    ['data', { code: 554 }, { kind: 'deferred', reason: 'provider_unavailable' }],
    ['data', { code: 451 }, { kind: 'deferred', reason: 'provider_unavailable' }],
    ['data', 'drop', { kind: 'deferred', reason: 'connection_failed' }],
  ])('at %s, %j: not taken, and no byte of it left', async (stage, action, outcome) => {
    sink.play(stage, action);
    const link = await open();
    expect(await link.send(message())).toMatchObject(outcome);
    expect(link.isOpen).toBe(false);
    sink.dropAll();
    expect([sink.mails, sink.partials]).toEqual([[], []]);
  });

  test.each([
    [451, 'try later', { kind: 'deferred', reason: 'provider_unavailable' }],
    [421, 'closing', { kind: 'deferred', reason: 'provider_unavailable' }],
    [
      454,
      'Throttling failure: Maximum sending rate exceeded',
      { kind: 'deferred', reason: 'throttled' },
    ],
    [552, 'too large', { kind: 'rejected', reason: 'message_refused' }],
    [554, 'Email address is not verified.', { kind: 'deferred', reason: 'sender_not_verified' }],
    [
      550,
      'From header sender domain not verified',
      { kind: 'deferred', reason: 'sender_not_verified' },
    ],
  ])('after its end, %i %s is a definite answer', async (code, text, outcome) => {
    sink.play('end', { code, text });
    expect(await send()).toMatchObject(outcome);
    expect(await sink.waitFor(1)).toMatchObject([{ answer: code }]);
  });

  test('unknown: the connection is lost mid-body, or after the end', async () => {
    const raw = Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(50_000));
    sink.play('body', { dropAfterBytes: 100_000 }, { times: 1 });
    expect(await send({ raw })).toEqual({ kind: 'unknown' });
    const [partial] = await sink.waitForPartials(1);
    expect(partial?.raw.length).toBeLessThan(raw.length);
    expect(sink.mails).toEqual([]);
    sink.play('end', 'drop', { times: 1 });
    expect(await send()).toEqual({ kind: 'unknown' });
    expect(await sink.waitFor(1)).toMatchObject([{ send_id: 'send-1', answer: null }]);
  });

  test('unknown: a relay that says nothing after the end, and goes away', async () => {
    sink.play('end', 'hang');
    const sending = send();
    expect(await sink.waitFor(1)).toMatchObject([{ answer: null }]);
    sink.dropAll();
    expect(await sending).toEqual({ kind: 'unknown' });
  });

  test('not_started: a deadline that has passed lets no byte out', async () => {
    const link = await open();
    expect(await link.send(message({ mayStart: () => false }))).toEqual({ kind: 'not_started' });
    expect(link.isOpen).toBe(false);
    const [partial] = await sink.waitForPartials(1);
    expect(partial).toMatchObject({ firstByteAt: null, raw: Buffer.alloc(0) });
    expect(sink.mails).toEqual([]);
  });

  test('the deadline is asked once, when the relay waits for the first byte', async () => {
    const link = await open();
    const asked: number[] = [];
    const mayStart = () => asked.push(sink.mails.length) > 0;
    expect((await link.send(message({ mayStart }))).kind).toBe('accepted');
    expect(asked).toHaveLength(1);
    sink.play('rcpt', { code: 550, text: 'no such user' });
    expect((await link.send(message({ mayStart }))).kind).toBe('rejected');
    expect(asked).toHaveLength(1);
  });

  test('deferred: over a connection that the relay closed meanwhile, which says that it is closed', async () => {
    const link = await open();
    sink.dropAll();
    expect(await link.send(message())).toMatchObject({
      kind: 'deferred',
      reason: 'connection_failed',
    });
    expect(link.isOpen).toBe(false);
  });

  test.each([
    ['Ok 0100018b5c3c0a4f-1a2b3c4d-000000', '0100018b5c3c0a4f-1a2b3c4d-000000'],
    ['OK id=1x2y3z-FnQW0aaaaaa-AB12', '1x2y3z-FnQW0aaaaaa-AB12'],
    ['OK: queued', null],
  ])('accepted: "250 %s" gives the id that feedback will name', async (text, providerMessageId) => {
    sink.play('end', { code: 250, text });
    expect(await send()).toMatchObject({ kind: 'accepted', providerMessageId });
  });
});

describe('classify', () => {
  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  ])('certificate_invalid: %s', (originalCode) => {
    const error = Object.assign(new Error(originalCode), { code: 'ESOCKET', originalCode });
    expect(classify(error, { from: '', to: '', secrets: [] })).toBe('certificate_invalid');
  });
});

describe('the sink', () => {
  test('is trusted by another process that is given its authority', async () => {
    const other = await startSmtpSink({ trusted: false });
    const module = new URL('../../src/providers/smtp.ts', import.meta.url).href;
    const code = `
      const { preflightSmtp } = await import(${JSON.stringify(module)});
      const network = {
        allowNetworks: ['127.0.0.0/8'],
        nameServers: null,
        ehloName: null,
        answerTimeoutMs: 60_000,
      };
      console.log(JSON.stringify(await preflightSmtp(${JSON.stringify(other.settings)}, network)));
    `;
    const run = async (env: Record<string, string>) => {
      const args = ['--input-type=module', '--eval', code];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      return JSON.parse(stdout) as unknown;
    };
    expect(await run({ NODE_EXTRA_CA_CERTS: other.caFile })).toEqual({ kind: 'passed' });
    expect(await run({})).toEqual(failed('certificate_invalid'));
    await other.close();
  });

  test('interferes as often, and for whom, as it is told', async () => {
    sink.play('rcpt', { code: 450 }, { times: 1, when: ({ to }) => to[0] === 'ada@example.test' });
    expect((await send({ to: 'bob@example.test' })).kind).toBe('accepted');
    expect((await send()).kind).toBe('deferred');
    expect((await send()).kind).toBe('accepted');
  });

  test('says what it has when it has waited in vain', async () => {
    await send();
    await expect(sink.waitFor(2, 20)).rejects.toThrow('after 20 ms the sink has 1 mails');
  });
});
