// Bounces, complaints and replies that arrive as email, from the hand-off to what the project sees.
import { describe, expect, test } from 'vitest';
import { writeSoftBouncesMax } from '../../../src/feedback/soft_queries.ts';
import { EMAIL } from '../project_told.ts';
import { mailboxWorld } from './mailbox_world.ts';
import { arf, dsn, outOfOffice } from './reports.ts';

const world = mailboxWorld();
const { connect, sendToAnn, read, makeDue, imap } = world;

const FULL = { status: '5.2.2', diagnostic: 'smtp; 552 5.2.2 Mailbox full' };

describe('a hard bounce by email', () => {
  test('is shown on the send, suppresses the address, and counts once', async () => {
    const providerId = await connect();
    const { mail, headers, stand, suppressed, notices } = await sendToAnn(providerId);
    expect(mail.from).toMatch(/^bounces\+[a-z2-7]{45}@shop\.test$/);
    imap.deliver(dsn({ to: EMAIL, sender: mail.from, headers }));
    expect(await read(providerId)).toMatchObject({ result: { kind: 'read' }, usedCount: 1 });
    expect(await stand()).toMatchObject({ status: 'bounced', feedback: [{ kind: 'bounced' }] });
    expect(await suppressed()).toMatchObject({
      reason: 'hard_bounce',
      source: `bounce_mailbox/${providerId}`,
    });
    expect([...(imap.inbox.messages[0]?.flags ?? [])]).toEqual(['\\Seen']);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ readCount: 0 });
    expect(await notices()).toHaveLength(1);
  });

  test('shows what the other host said: its codes and text, without other addresses', async () => {
    const providerId = await connect();
    const { mail, notices } = await sendToAnn(providerId);
    const diagnostic = `smtp; 550 5.1.1 <${EMAIL}>: unknown, ask boss@example.net, password: hunter2`;
    imap.deliver(dsn({ to: EMAIL, sender: mail.from, diagnostic }));
    await read(providerId);
    const [notice] = await notices();
    expect(notice?.reason).toContain(`550 5.1.1 <${EMAIL}>: unknown`);
    expect(notice?.reason).not.toMatch(/boss@example\.net|hunter2/);
  });

  test.each([
    ['the token alone', (one: Named) => dsn({ to: EMAIL, sender: one.sender })],
    ['the token in capitals', (one: Named) => dsn({ to: EMAIL, sender: one.sender.toUpperCase() })],
    ['the message id alone', (one: Named) => dsn({ to: EMAIL, headers: one.messageId })],
    [
      'the send id of the returned header',
      (one: Named) => dsn({ to: EMAIL, headers: `Message-ID: <x@relay.test>\r\n${one.sendId}` }),
    ],
    [
      'the envelope sender of the returned header',
      (one: Named) =>
        dsn({ to: EMAIL, headers: `Return-Path: <${one.sender}>\r\nMessage-ID: <x@relay.test>` }),
    ],
  ])('is matched by %s', async (_how, report) => {
    const providerId = await connect();
    const { mail, headers, send, stand } = await sendToAnn(providerId);
    const messageId = /^Message-ID: .*$/im.exec(headers)?.[0] ?? '';
    const sendId = `X-Trunkline-Send-Id: ${send.sendId}`;
    imap.deliver(report({ sender: mail.from, messageId, sendId }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'bounced' });
  });

  const OTHERS = 'To: ann@example.net\r\nSubject: Welcome';
  test.each([
    ['alone', (id: string) => dsn({ to: EMAIL, headers: id })],
    ['with To and Subject', (id: string) => dsn({ to: EMAIL, headers: `${id}\r\n${OTHERS}` })],
    ['after a blank line', (id: string) => dsn({ to: EMAIL, headers: `\r\n${id}\r\n${OTHERS}` })],
    [
      'in a returned email',
      (id: string) =>
        dsn({ to: EMAIL, headers: `${id}\r\n${OTHERS}` }).replace(
          'text/rfc822-headers',
          'message/rfc822',
        ),
    ],
    [
      'in a part with a charset and a description',
      (id: string) =>
        dsn({ to: EMAIL, headers: `${id}\r\n${OTHERS}` }).replace(
          'text/rfc822-headers',
          'Text/RFC822-headers; charset=us-ascii\r\nContent-Description: Undelivered Message Headers',
        ),
    ],
    [
      'with From',
      (id: string) => dsn({ to: EMAIL, headers: `From: hello@shop.test\r\n${id}\r\n${OTHERS}` }),
    ],
    [
      'with Date',
      (id: string) =>
        dsn({ to: EMAIL, headers: `Date: Fri, 27 Nov 2026 20:50:00 +0000\r\n${id}\r\n${OTHERS}` }),
    ],
    [
      'with a Return-Path',
      (id: string) =>
        dsn({ to: EMAIL, headers: `Return-Path: <hello@shop.test>\r\n${id}\r\n${OTHERS}` }),
    ],
    [
      'with Received',
      (id: string) => dsn({ to: EMAIL, headers: `Received: from a by b\r\n${id}\r\n${OTHERS}` }),
    ],
  ])('is matched by the send id as the only id, %s', async (_how, report) => {
    const providerId = await connect();
    const { send, stand } = await sendToAnn(providerId);
    imap.deliver(report(`X-Trunkline-Send-Id: ${send.sendId}`));
    expect(await read(providerId)).toMatchObject({ usedCount: 1 });
    expect(await stand()).toMatchObject({ status: 'bounced' });
  });

  test('is matched by the envelope sender of a returned header without an id', async () => {
    const providerId = await connect();
    const { mail, stand } = await sendToAnn(providerId);
    imap.deliver(dsn({ to: EMAIL, headers: `Return-Path: <${mail.from}>\r\n${OTHERS}` }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'bounced' });
  });

  test('without VERP comes to the bounce address, and without that to the sender', async () => {
    const fixed = await connect({ verp: false });
    expect((await sendToAnn(fixed)).mail.from).toBe('bounces@shop.test');
    const none = await connect({ verp: false, bounce_address: null });
    expect((await sendToAnn(none, 'bob@example.com')).mail.from).toMatch(/^hello\d+@acme\.test$/);
  });
});

type Named = { sender: string; messageId: string; sendId: string };

describe('other reports by email', () => {
  test('soft bounces count, one for each email, and suppress after so many in a row', async () => {
    const providerId = await connect();
    const first = await sendToAnn(providerId);
    await first.sends.within((scope) => writeSoftBouncesMax(scope, 2));
    // A server that repeats its report, or passes it on to several addresses, reports one bounce.
    for (const to of [EMAIL, EMAIL, 'other@example.org'])
      imap.deliver(dsn({ ...FULL, to, sender: first.mail.from }));
    expect(await read(providerId)).toMatchObject({ usedCount: 3 });
    expect(await first.stand()).toMatchObject({ status: 'bounced' });
    expect(await first.suppressed()).toBe(null);
    const second = await sendToAnn(providerId);
    imap.deliver(dsn({ ...FULL, to: EMAIL, sender: second.mail.from }));
    await makeDue();
    await read(providerId);
    expect(await second.suppressed()).toMatchObject({ reason: 'soft_bounces' });
  });

  test('a block is shown and suppresses nothing', async () => {
    const providerId = await connect();
    const { mail, stand, suppressed } = await sendToAnn(providerId);
    const diagnostic = 'smtp; 554 5.7.1 Client host blocked using zen.spamhaus.org';
    imap.deliver(dsn({ to: EMAIL, sender: mail.from, status: '5.7.1', diagnostic }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'bounced' });
    expect(await suppressed()).toBe(null);
  });

  test('a delay changes nothing, and a delivery is shown', async () => {
    const providerId = await connect();
    const { mail, stand } = await sendToAnn(providerId);
    const sender = mail.from;
    imap.deliver(dsn({ to: EMAIL, sender, action: 'delayed', status: '4.4.1', diagnostic: null }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'accepted', feedback: [] });
    imap.deliver(
      dsn({ to: EMAIL, sender, action: 'delivered', status: '2.0.0', diagnostic: null }),
    );
    await makeDue();
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'delivered' });
  });

  test('a complaint suppresses, also where the report hides the recipient', async () => {
    const providerId = await connect();
    const { mail, stand, suppressed } = await sendToAnn(providerId);
    imap.deliver(arf({ to: null, mailFrom: mail.from }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'complained' });
    expect(await suppressed()).toMatchObject({ reason: 'complaint' });
  });

  test('an automatic reply changes nothing, and is marked as read', async () => {
    const providerId = await connect();
    const { mail, headers, stand, suppressed, notices } = await sendToAnn(providerId);
    imap.deliver(outOfOffice(mail.from, headers));
    expect(await read(providerId)).toMatchObject({ readCount: 1, usedCount: 1 });
    expect(await stand()).toMatchObject({ status: 'accepted', feedback: [] });
    expect(await suppressed()).toBe(null);
    expect(await notices()).toEqual([]);
  });

  test('an email of a person changes nothing, and stays unread', async () => {
    const providerId = await connect({ after_read: 'delete' });
    const { mail, stand } = await sendToAnn(providerId);
    imap.deliver(`From: Ann <ann@example.net>\r\nTo: ${mail.from}\r\nSubject: Hi\r\n\r\nCall me.`);
    expect(await read(providerId)).toMatchObject({ readCount: 1, usedCount: 0 });
    expect(imap.inbox.messages.map(({ flags }) => [...flags])).toEqual([[]]);
    expect(await stand()).toMatchObject({ status: 'accepted' });
  });
});

describe('a bounce that a webhook reports, too', () => {
  test('counts once as a soft bounce, and is on the timeline once', async () => {
    const providerId = await connect();
    const { mail, send, sends, stand, suppressed, timeline } = await sendToAnn(providerId);
    await sends.within((scope) => writeSoftBouncesMax(scope, 2));
    const { project_id, hook_token: token } = world.api.project;
    const body = { event: 'soft_bounce', recipient: EMAIL, event_id: 'a', send_id: send.sendId };
    const posted = await world.api.call('POST', `/v1/webhooks/smtp/${project_id}`, {
      key: token,
      body,
    });
    expect(posted.status).toBe(200);
    imap.deliver(dsn({ ...FULL, to: EMAIL, sender: mail.from }));
    await read(providerId);
    expect(await stand()).toMatchObject({ status: 'bounced' });
    expect(await suppressed()).toBe(null);
    expect((await timeline()).filter((name) => name === 'email_bounced')).toHaveLength(1);
  });
});
