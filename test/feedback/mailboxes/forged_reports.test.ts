// Anyone can write to a bounce address. A report about an email that the provider did not send changes nothing.
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { makeEnvelopeSender } from '../../../src/providers/bounce_mailbox/verp.ts';
import { eraseNow } from '../../support/erase.ts';
import { EMAIL } from '../project_told.ts';
import { mailboxWorld } from './mailbox_world.ts';
import { arf, dsn } from './reports.ts';

const world = mailboxWorld();
const { connect, sendToAnn, read, makeDue, imap } = world;

/** A send to Ann, a report about it, and that the report changed nothing. */
const unchanged = async (one: Awaited<ReturnType<typeof sendToAnn>>) => {
  expect(await one.stand()).toMatchObject({ status: 'accepted', feedback: [] });
  expect(await one.suppressed()).toBe(null);
  expect(await one.notices()).toEqual([]);
};

describe('a report changes nothing', () => {
  test.each([
    ['with an address alone', () => dsn({ to: EMAIL })],
    [
      'with a forged token',
      () => dsn({ to: EMAIL, sender: `bounces+${'a'.repeat(45)}@shop.test` }),
    ],
    [
      'with an unknown message id',
      () => dsn({ to: EMAIL, headers: `Message-ID: <${newId()}.1@shop.test>` }),
    ],
    [
      'with an unknown send id',
      () => dsn({ to: EMAIL, headers: `Message-ID: <a@b.c>\r\nX-Trunkline-Send-Id: ${newId()}` }),
    ],
    [
      'with nothing but an unknown send id',
      () => dsn({ to: EMAIL, headers: `X-Trunkline-Send-Id: ${newId()}` }),
    ],
    ['that is a complaint about an unknown email', () => arf({ to: EMAIL })],
  ])('%s', async (_how, report) => {
    const providerId = await connect({ after_read: 'delete' });
    const one = await sendToAnn(providerId);
    imap.deliver(report());
    expect(await read(providerId)).toMatchObject({ readCount: 1, usedCount: 0 });
    await unchanged(one);
    expect(imap.inbox.messages.map(({ flags }) => [...flags])).toEqual([[]]);
  });

  test('with the token or the message id of another provider', async () => {
    const [own, other] = [await connect(), await connect()];
    const one = await sendToAnn(own);
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from, headers: one.headers }));
    expect(await read(other)).toMatchObject({ readCount: 1, usedCount: 0 });
    await unchanged(one);
    // The mailbox is one and the same: its own provider still reads the report.
    expect(await read(own)).toMatchObject({ readCount: 1, usedCount: 1 });
    expect(await one.stand()).toMatchObject({ status: 'bounced' });
  });

  test('with nothing but the send id, by another provider or project', async () => {
    const [own, other] = [await connect(), await connect()];
    const one = await sendToAnn(own);
    const sendId = `X-Trunkline-Send-Id: ${one.send.sendId}`;
    imap.deliver(dsn({ to: EMAIL, headers: sendId }));
    expect(await read(other)).toMatchObject({ readCount: 1, usedCount: 0 });
    const { project } = world.api;
    world.api.project = await createProject(world.database.deps, 'another');
    expect(await read(await connect())).toMatchObject({ readCount: 1, usedCount: 0 });
    world.api.project = project;
    await unchanged(one);
  });

  test('with the token or the message id of another project', async () => {
    const one = await sendToAnn(await connect());
    world.api.project = await createProject(world.database.deps, 'another');
    const theirs = await connect();
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from, headers: one.headers }));
    expect(await read(theirs)).toMatchObject({ readCount: 1, usedCount: 0 });
    const { rows } = await world.database.owner.query(
      'select from feedback.notices where project_id = $1',
      [world.api.project.project_id],
    );
    expect(rows).toEqual([]);
    await unchanged(await sendToAnn(theirs, 'bob@example.com'));
  });

  test('with a token that another project made for this send', async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    const forged = makeEnvelopeSender(
      world.database.deps.keys,
      {
        projectId: newId(),
        providerId,
        fromEmail: 'x@shop.test',
        bounces: { address: 'bounces@shop.test', verp: true },
      },
      one.send.sendId,
    );
    imap.deliver(dsn({ to: EMAIL, sender: forged }));
    await read(providerId);
    await unchanged(one);
  });

  test('about an address that its email was not for: that address is not suppressed', async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    imap.deliver(dsn({ to: 'victim@example.com', sender: one.mail.from, headers: one.headers }));
    await read(providerId);
    expect(await one.suppressed('victim@example.com')).toBe(null);
    expect(await one.suppressed()).toBe(null);
  });

  test('about a person who is erased', async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    await eraseNow(world.database, one.projectId, one.send.profileId);
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from, headers: one.headers }));
    expect(await read(providerId)).toMatchObject({ readCount: 1, usedCount: 0 });
    expect(await one.notices()).toEqual([]);
  });
});

describe('a hostile email', () => {
  const deep = (depth: number): string =>
    Array.from(
      { length: depth },
      (_, level) => `Content-Type: multipart/mixed; boundary=n${level}\r\n\r\n--n${level}\r\n`,
    ).join('');

  test.each([
    ['of megabytes', () => Buffer.alloc(8 * 1024 * 1024, 'a\n')],
    ['with thousands of nested parts', () => deep(10_000)],
    [
      'without end of its parts',
      () => `Content-Type: multipart/report; boundary=a\r\n\r\n${'--a\r\n'.repeat(50_000)}`,
    ],
    ['of no bytes', () => ''],
    ['of zeros', () => Buffer.alloc(10_000)],
  ])('%s holds up no other', async (_what, raw) => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    imap.deliver(raw());
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }));
    expect(await read(providerId)).toMatchObject({ readCount: 2, usedCount: 1 });
    expect(await one.stand()).toMatchObject({ status: 'bounced' });
    await makeDue();
    expect(await read(providerId)).toMatchObject({ readCount: 0 });
  });

  test('with a report before megabytes of the email that it returns is read', async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }) + 'x'.repeat(8 * 1024 * 1024));
    await read(providerId);
    expect(await one.stand()).toMatchObject({ status: 'bounced' });
  });
});
