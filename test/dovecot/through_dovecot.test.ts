// The IMAP server here is one that we did not write: `make test-imap` installs it where it can.
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withMailbox } from '../../src/providers/bounce_mailbox/imap.ts';
import type { MailboxSettings } from '../../src/providers/bounce_mailbox/imap.ts';
import { mailboxWorld } from '../feedback/mailboxes/mailbox_world.ts';
import { arf, dsn, outOfOffice } from '../feedback/mailboxes/reports.ts';
import { EMAIL } from '../feedback/project_told.ts';
import { Dovecot, hasDovecot } from './dovecot.ts';

const isHere = hasDovecot();
const NO_DOVECOT = 'there is no Dovecot on this machine; `make test-imap` installs it, as root';
const LOOPBACK = { allowNetworks: ['127.0.0.0/8', '::1/128'], nameServers: new Resolver() };

describe('a mailbox on Dovecot', () => {
  const world = mailboxWorld();
  const { connect, sendToAnn, read, makeDue } = world;
  let dovecot: Dovecot;
  beforeEach(({ skip }) => skip(!isHere, NO_DOVECOT));
  beforeAll(async () => {
    if (isHere) dovecot = await Dovecot.start();
  });
  afterAll(async () => {
    if (isHere) await dovecot.close();
  });

  const open = (given: Partial<MailboxSettings> = {}) => {
    const settings = { ...dovecot.settings(), folder: 'INBOX', after_read: 'mark_seen' as const };
    return withMailbox({ ...settings, move_to: null, ...given }, LOOPBACK, ({ uidValidity }) =>
      Promise.resolve(uidValidity > 0),
    );
  };

  test('is opened over TLS and over STARTTLS', async () => {
    expect(await open()).toEqual({ kind: 'done', value: true });
    expect(await open(dovecot.settings('starttls'))).toEqual({ kind: 'done', value: true });
  });

  test.each<[string, () => Partial<MailboxSettings>, string]>([
    ['a wrong password', () => ({ password: 'wrong' }), 'login_refused'],
    ['a folder that is not there', () => ({ folder: 'Nowhere' }), 'folder_missing'],
    [
      'a folder to move to that is not there',
      () => ({ after_read: 'move', move_to: 'Nowhere' }),
      'folder_missing',
    ],
  ])('refuses %s', async (_what, given, failure) => {
    expect(await open(given())).toEqual({ kind: 'failed', failure: `bounce_mailbox_${failure}` });
  });

  test.each([
    ['mark_seen', null, 2, 0],
    ['move', 'Done', 1, 1],
    ['delete', null, 1, 0],
  ] as const)(
    'is read, and what was used is finished: %s',
    async (after_read, move_to, left, moved) => {
      for (const name of ['INBOX', 'Done'] as const) await empty(name);
      const providerId = await connect({ ...dovecot.settings(), after_read, move_to });
      const one = await sendToAnn(providerId);
      await dovecot.deliver(`From: ann@example.net\r\nSubject: Hi\r\n\r\nCall me.`);
      await dovecot.deliver(dsn({ to: EMAIL, sender: one.mail.from, headers: one.headers }));
      expect(await read(providerId)).toMatchObject({ result: { kind: 'read' }, usedCount: 1 });
      expect(await one.stand()).toMatchObject({ status: 'bounced' });
      expect(await dovecot.list()).toHaveLength(left);
      expect(await dovecot.list('Done')).toHaveLength(moved);
      await makeDue();
      expect(await read(providerId)).toMatchObject({ readCount: 0 });
    },
  );

  test('takes complaints, and leaves out automatic replies', async () => {
    await empty('INBOX');
    const providerId = await connect(dovecot.settings());
    const one = await sendToAnn(providerId);
    await dovecot.deliver(outOfOffice(one.mail.from, one.headers));
    await read(providerId);
    expect(await one.stand()).toMatchObject({ status: 'accepted', feedback: [] });
    await dovecot.deliver(arf({ to: null, headers: one.headers }));
    await makeDue();
    await read(providerId);
    expect(await one.suppressed()).toMatchObject({ reason: 'complaint' });
  });

  /** Deletes every message of a folder. */
  const empty = (folder: string) =>
    withMailbox(
      { ...dovecot.settings(), folder, after_read: 'delete', move_to: null },
      LOOPBACK,
      async (session) =>
        session.finish(await session.search({ from: 1, to: session.uidNext - 1 }, new Date(0))),
    );
});
