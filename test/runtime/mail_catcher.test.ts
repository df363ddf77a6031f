import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  KEPT_BYTES_MAX,
  MAIL_BYTES_MAX,
  Mailbox,
  MAILS_KEPT_MAX,
} from '../../src/runtime/mail_catcher/mailbox.ts';
import { RECIPIENTS_MAX } from '../../src/runtime/mail_catcher/smtp.ts';
import { ACCOUNT, MAIL, runningCatcher } from './running_catcher.ts';
import { dial } from './smtp_dialogue.ts';

const catcher = runningCatcher();

describe('over SMTP', () => {
  test('a mail sent with STARTTLS and the right password is caught whole', async () => {
    await catcher.send({ ...MAIL, headers: { 'X-Trunkline-Send-Id': 'send-1' } });
    const [mail, ...others] = await catcher.list();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      from: 'hello@acme.test',
      to: ['ada@example.test'],
      subject: 'Wëlcome, Ada',
      message_id: '<one@acme.test>',
      text: expect.stringContaining('Hello Ada'),
      html: expect.stringContaining('<p>Hello <b>Ada</b></p>'),
    });
    expect(mail.headers).toMatchObject({ 'x-trunkline-send-id': 'send-1', 'mime-version': '1.0' });
    expect(new Date(mail.received_at).toISOString()).toBe(mail.received_at);
    expect(Object.keys(mail).toSorted().join()).toBe(
      'from,headers,html,id,message_id,received_at,subject,text,to',
    );
  });

  test('the envelope decides from and to, not the headers', async () => {
    const envelope = { from: '', to: ['one@example.test', 'two@example.test'] };
    await catcher.send({ ...MAIL, envelope });
    expect(await catcher.list()).toMatchObject([{ from: '', to: envelope.to }]);
  });

  test('a header that comes twice is an array, in order, and a part that is missing is null', async () => {
    const dialogue = await catcher.dial();
    await dialogue.mail('Received: one\r\nReceived: two\r\n__proto__: odd\r\n\r\nbody\r\n');
    dialogue.close();
    const [mail] = await catcher.list();
    expect(mail.headers.received).toEqual(['one', 'two']);
    expect(Object.entries(mail.headers)).toContainEqual(['__proto__', 'odd']);
    expect(mail).toMatchObject({ subject: null, message_id: null, html: null, text: 'body\n' });
  });

  test('what is hardly a mail is caught all the same', async () => {
    const dialogue = await catcher.dial();
    const nested = Array.from({ length: 300 }, (_, i) => {
      const start = i === 0 ? '' : `--${i - 1}\r\n`;
      return `${start}Content-Type: multipart/mixed; boundary=${i}\r\n\r\n`;
    });
    expect(await dialogue.mail('')).toMatch(/^250/);
    expect(await dialogue.mail('\0\xff no header at all\r\n')).toMatch(/^250/);
    expect(await dialogue.mail(nested.join(''))).toMatch(/^250/);
    dialogue.close();
    expect(await catcher.list()).toHaveLength(3);
  });

  test.each([
    ['a wrong password', { ...ACCOUNT, pass: 'wrong' }],
    ['a wrong username', { ...ACCOUNT, user: 'somebody' }],
  ])('535: %s is refused', async (_what, auth) => {
    await expect(catcher.transport({ auth }).sendMail(MAIL)).rejects.toMatchObject({
      code: 'EAUTH',
      responseCode: 535,
    });
    expect(await catcher.list()).toEqual([]);
  });

  test('AUTH is not offered before STARTTLS, nor taken; PLAIN and LOGIN are offered after it', async () => {
    const dialogue = await dial(catcher.now.smtpPort);
    const before = await dialogue.command('EHLO client.test');
    expect(before).toContain('STARTTLS');
    expect(before).not.toContain('AUTH');
    expect(await dialogue.command('AUTH PLAIN AGEAYg==')).toMatch(/^500/);
    await dialogue.startTls(catcher.certificate.ca);
    expect(await dialogue.command('EHLO client.test')).toMatch(/AUTH PLAIN LOGIN/);
    dialogue.close();
  });

  test.each(['PLAIN', 'LOGIN'])('235: AUTH %s is accepted', async (authMethod) => {
    await expect(catcher.transport({ authMethod }).verify()).resolves.toBe(true);
  });

  test('530: no mail is taken before TLS, nor inside it before AUTH', async () => {
    const dialogue = await dial(catcher.now.smtpPort);
    await dialogue.command('EHLO client.test');
    expect(await dialogue.command('MAIL FROM:<a@example.test>')).toMatch(/^530/);
    await dialogue.startTls(catcher.certificate.ca);
    await dialogue.command('EHLO client.test');
    expect(await dialogue.command('MAIL FROM:<a@example.test>')).toMatch(/^530/);
    dialogue.close();
  });

  test('a client that hangs up in its handshake or mid-mail, or speaks no TLS, harms nobody', async () => {
    for (const garbage of ['', 'this is no ClientHello\r\n']) {
      const dialogue = await dial(catcher.now.smtpPort);
      await dialogue.command('EHLO client.test');
      await dialogue.command('STARTTLS');
      dialogue.write(garbage);
      if (garbage === '') dialogue.close();
      await dialogue.closed;
    }
    const dialogue = await catcher.dial();
    await dialogue.command('MAIL FROM:<a@example.test>');
    await dialogue.command('RCPT TO:<b@example.test>');
    await dialogue.command('DATA');
    dialogue.write('Subject: half\r\n\r\nhal');
    dialogue.close();
    await dialogue.closed;
    await catcher.send();
    expect(await catcher.list()).toMatchObject([{ subject: MAIL.subject }]);
  });
});

describe('limits', () => {
  const raw = (bytes: number) => `Subject: ${bytes}\r\n\r\n`.padEnd(bytes - 2, 'x') + '\r\n';

  test('552: a mail is taken up to the largest size, and refused one byte past it', async () => {
    const dialogue = await catcher.dial();
    expect(await dialogue.mail(raw(MAIL_BYTES_MAX))).toMatch(/^250/);
    expect(await dialogue.mail(raw(MAIL_BYTES_MAX + 1))).toMatch(/^552/);
    const announced = `MAIL FROM:<a@example.test> SIZE=${MAIL_BYTES_MAX + 1}`;
    expect(await dialogue.command(announced)).toMatch(/^552/);
    dialogue.close();
    expect(await catcher.list()).toMatchObject([{ subject: String(MAIL_BYTES_MAX) }]);
  });

  test('452: a mail has the most recipients, and not one more', async () => {
    const dialogue = await catcher.dial();
    await dialogue.command('MAIL FROM:<a@example.test>');
    for (let i = 0; i < RECIPIENTS_MAX; i += 1) {
      expect(await dialogue.command(`RCPT TO:<${i}@example.test>`)).toMatch(/^250/);
    }
    expect(await dialogue.command('RCPT TO:<one-more@example.test>')).toMatch(/^452/);
    dialogue.close();
  });

  test('the most mails are all kept; with one more the oldest drops out', async () => {
    const dialogue = await catcher.dial();
    for (let i = 0; i < MAILS_KEPT_MAX; i += 1) await dialogue.mail(`Subject: ${i}\r\n\r\n`);
    const kept = await catcher.list();
    expect([kept.length, kept.at(0).subject]).toEqual([MAILS_KEPT_MAX, '0']);
    await dialogue.mail('Subject: one more\r\n\r\n');
    dialogue.close();
    const after = await catcher.list();
    expect([after.length, after.at(0).subject]).toEqual([MAILS_KEPT_MAX, '1']);
    expect(after.at(-1).subject).toBe('one more');
    expect((await catcher.fetch(`/messages/${kept[0].id}/raw`)).status).toBe(404);
  });

  test('mails together are kept up to the most bytes; with one more byte the oldest drop out', async () => {
    const mailbox = new Mailbox();
    const envelope = { from: 'a@example.test', to: ['b@example.test'] };
    const add = (bytes: number) => mailbox.add(envelope, Buffer.from(raw(bytes)));
    const fitting = Math.floor(KEPT_BYTES_MAX / MAIL_BYTES_MAX);
    const rest = KEPT_BYTES_MAX - fitting * MAIL_BYTES_MAX;
    for (let i = 0; i < fitting; i += 1) await add(MAIL_BYTES_MAX);
    await add(rest);
    expect(mailbox.list()).toHaveLength(fitting + 1);
    await add(rest);
    expect(mailbox.list()).toHaveLength(fitting + 1);
    mailbox.empty();
    await add(MAIL_BYTES_MAX);
    expect(mailbox.list()).toHaveLength(1);
  });
});

/** Whether something listens there. */
const isOpen = async (host: string, port: number): Promise<boolean> => {
  const socket = connect(port, host);
  try {
    return await once(socket, 'connect').then(
      () => true,
      () => false,
    );
  } finally {
    socket.destroy();
  }
};

describe('start and close', () => {
  test('both ports listen on 127.0.0.1, and on no other address of the machine', async () => {
    const { smtpPort, httpPort, url } = catcher.now;
    expect(url).toBe(`http://127.0.0.1:${httpPort}`);
    const others = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter(({ internal, scopeid }) => !internal && !scopeid),
    );
    for (const port of [smtpPort, httpPort]) {
      expect(await isOpen('127.0.0.1', port)).toBe(true);
      for (const { address } of others) expect(await isOpen(address, port)).toBe(false);
    }
  });

  test.each(['smtpPort', 'httpPort'] as const)(
    'a %s in use is an error that names it and says what to do, and leaves nothing open',
    async (which) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { smtpPort, httpPort } = catcher.now;
      await catcher.now.close();
      await expect(catcher.start({ smtpPort, httpPort, [which]: port })).rejects.toThrow(
        new RegExp(`port ${port} is in use\\. Stop .*another port`),
      );
      other.close();
      await catcher.start({ smtpPort, httpPort });
      expect(await catcher.list()).toEqual([]);
    },
  );

  test('close waits for no idle client, half handshake, long poll or open page', async () => {
    const idle = await catcher.dial();
    const halfway = await dial(catcher.now.smtpPort);
    await halfway.command('EHLO client.test');
    await halfway.command('STARTTLS');
    const poll = catcher.fetch('/messages?wait_ms=30000').catch((error: Error) => error.name);
    const changes = await catcher.fetch('/changes');
    await catcher.now.close();
    await expect(changes.text()).rejects.toThrow();
    expect(await poll).toBe('TypeError');
    await Promise.all([idle.closed, halfway.closed]);
    await catcher.start({ smtpPort: catcher.now.smtpPort, httpPort: catcher.now.httpPort });
  });

  test('closing twice is as closing once', async () => {
    await catcher.now.close();
    await catcher.now.close();
  });
});
