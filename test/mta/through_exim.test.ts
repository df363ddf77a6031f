// The relay here is one that we did not write: `make test-mta` installs it where it can.
import { Resolver } from 'node:dns/promises';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildMessage } from '../../src/delivery/message.ts';
import { newId } from '../../src/base/ids.ts';
import { smtp } from '../../src/providers/smtp.ts';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { Exim, hasExim } from './exim.ts';

const isHere = hasExim();
const NO_EXIM = 'there is no Exim on this machine; `make test-mta` installs it, as root';

const network = {
  allowNetworks: ['127.0.0.0/8', '::1/128'],
  nameServers: new Resolver(),
  relayApiUrl: 'https://relay.invalid',
  cloudApiUrl: null,
  ehloName: null,
  answerTimeoutMs: 60_000,
};
const SENDER = {
  from_email: 'hello@shop.test',
  from_name: 'Ünser Laden',
  reply_to: 'help@shop.test',
};
const ABOUT = {
  feedbackSender: '0123456789ab',
  automationId: newId(),
  templateId: newId(),
  templateVersion: 1,
  category: 'marketing',
  unsubscribeUrl: 'https://shop.test/u/token-of-this-reader',
  host: null,
} as const;
const CONTENT = {
  subject: 'Grüße, 你好 – =?utf-8?q?not_a_word?=',
  html: `<p>Hello &amp; welcome</p><p>${'A long line without a break. '.repeat(60)}</p>\n.\n..\nFrom here on`,
  text: `Hello & welcome\n.\n..two dots\nFrom here on\n${'x'.repeat(2_000)}\n`,
};

/** What a DKIM signature covers. */
const SIGNED = [
  'from to subject date message-id reply-to mime-version content-type list-unsubscribe',
  'list-unsubscribe-post feedback-id auto-submitted',
].flatMap((names) => names.split(' '));

/** What a relay puts before a message that it takes. */
const withoutTrace = (raw: string): string => {
  const [head = '', ...body] = raw.replaceAll('\r\n', '\n').split('\n\n');
  const fields = head.split(/\n(?![ \t])/);
  const own = fields.filter((field) => !/^(?:Return-path|Envelope-to|Received):/i.test(field));
  return [own.join('\n'), ...body].join('\n\n');
};

describe('through Exim', () => {
  let exim: Exim;
  beforeAll(async () => {
    if (isHere) exim = await Exim.start();
  });
  afterAll(async () => {
    if (isHere) await exim.stop();
  });
  beforeEach(({ skip }) => skip(!isHere, NO_EXIM));

  const open = async (settings: SmtpSettings) => {
    const answer = await smtp.connect(settings, network);
    if (answer.kind === 'failed') throw new Error(JSON.stringify(answer.outcome));
    return answer.link;
  };
  const send = async (
    to: string,
    given: { settings?: SmtpSettings; from?: string; subject?: string } = {},
  ) => {
    const {
      settings = exim.settings(),
      from = SENDER.from_email,
      subject = CONTENT.subject,
    } = given;
    const sendId = newId();
    const sender = { ...SENDER, from_email: from };
    const raw = buildMessage(
      { sendId, attempt: 1, sender, to, about: ABOUT },
      { ...CONTENT, subject },
    );
    const link = await open(settings);
    const outcome = await link.send({ sendId, from, to, raw, mayStart: () => true });
    link.close();
    return { outcome, raw, sendId };
  };
  const preflight = (settings: SmtpSettings) => smtp.preflight(settings, network, 'a@shop.test');

  test.each(['starttls', 'ssl', 'none'] as const)(
    'a message goes with %s, and arrives as it was built',
    async (secure) => {
      const to = `ann-${secure}@people.test`;
      const { outcome, raw } = await send(to, { settings: exim.settings(secure) });
      expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: expect.any(String) });
      const delivered = await exim.delivered(to);
      expect(withoutTrace(delivered)).toBe(raw.toString('latin1').replaceAll('\r\n', '\n'));
    },
  );

  test('what is signed by DKIM is there once each, and reads as it was meant', async () => {
    const { sendId } = await send('reader@people.test');
    const mail = await PostalMime.parse(
      Buffer.from(await exim.delivered('reader@people.test'), 'latin1'),
    );
    expect(mail).toMatchObject({
      from: { name: SENDER.from_name, address: SENDER.from_email },
      to: [{ address: 'reader@people.test' }],
      replyTo: [{ address: SENDER.reply_to }],
      subject: CONTENT.subject,
      messageId: `<${sendId}.1@shop.test>`,
    });
    expect(mail.html?.trim()).toBe(CONTENT.html.trim());
    expect(mail.text?.trim()).toBe(CONTENT.text.trim());
    const keys = mail.headers.map(({ key }) => key);
    for (const name of SIGNED)
      expect([name, keys.filter((key) => key === name).length]).toEqual([name, 1]);
    const valueOf = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
    expect(valueOf('list-unsubscribe')).toBe(`<${ABOUT.unsubscribeUrl}>`);
    expect(valueOf('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const type = mail.headers.find(({ key }) => key === 'content-type')?.value;
    expect(type).toContain('multipart/alternative');
  });

  test('a refused recipient is a hard bounce, a full mailbox is tried again', async () => {
    expect((await send('nobody@people.test')).outcome).toEqual({
      kind: 'rejected',
      reason: 'recipient_refused',
      bounce: { type: 'hard', codes: '550 5.1.1' },
      reply: { code: 550, enhanced: '5.1.1', queueId: null, text: 'no such user here' },
    });
    expect((await send('full@people.test')).outcome).toMatchObject({ kind: 'deferred' });
  });

  test('a sender that the relay does not know parks the provider, and ends no send', async () => {
    expect((await send('ann@people.test', { from: 'a@unverified.test' })).outcome).toEqual({
      kind: 'deferred',
      reason: 'sender_not_verified',
      waits: 'park',
      reply: {
        code: 550,
        enhanced: null,
        queueId: null,
        text: 'From header sender domain not verified',
      },
    });
  });

  test('throttled: tried again', async () => {
    expect((await send('ann@people.test', { subject: 'throttle me' })).outcome).toEqual({
      kind: 'deferred',
      reason: 'throttled',
      waits: 'rate',
      isOfOne: true,
      isOfText: true,
      reply: {
        code: 454,
        enhanced: '4.7.0',
        queueId: null,
        text: 'Throttling failure: Maximum sending rate exceeded.',
      },
    });
  });

  test('a preflight passes by each way, and sends nothing', async () => {
    for (const secure of ['starttls', 'ssl', 'none'] as const)
      expect(await preflight(exim.settings(secure))).toEqual({ kind: 'passed' });
  });

  test('authentication_failed: a wrong password, a wrong name', async () => {
    const failed = { kind: 'failed', reason: 'authentication_failed' };
    expect(await preflight({ ...exim.settings(), password: 'wrong' })).toEqual(failed);
    expect(await preflight({ ...exim.settings('ssl'), username: 'wrong' })).toEqual(failed);
  });

  test('starttls_not_offered: a port without it gets no password', async () => {
    const settings = { ...exim.settings('none'), smtp_secure: 'starttls' as const };
    expect(await preflight(settings)).toEqual({ kind: 'failed', reason: 'starttls_not_offered' });
  });

  test('auth_not_offered: without TLS the relay offers no AUTH', async () => {
    const settings = { ...exim.settings('starttls'), smtp_secure: 'none' as const };
    expect(await preflight(settings)).toEqual({ kind: 'failed', reason: 'auth_not_offered' });
  });

  test('connection_failed: TLS from the first byte on a port that begins without', async () => {
    const settings = { ...exim.settings('starttls'), smtp_secure: 'ssl' as const };
    expect(await preflight(settings)).toEqual({ kind: 'failed', reason: 'connection_failed' });
  });

  test('certificate_invalid: the certificate is for another name', async () => {
    const settings = { ...exim.settings('ssl'), smtp_host: '127.0.0.1' };
    expect(await preflight(settings)).toEqual({ kind: 'failed', reason: 'certificate_invalid' });
  });
});
